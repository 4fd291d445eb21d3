"""Lists what the tests do not reach, as the table of docs/coverage.md.

    python3 cmake/uncovered_lines.py build/coverage/coverage.json docs/coverage.md

Rewrites the table in place. Reasons are written by hand: a row keeps the one that it had, found by
its file and by the text of its first line, since line numbers move.
"""
import json
import pathlib
import re
import sys

JUDGED = ("include/attest/", "src/kernels/", "reference/")
HEAD = "| file | lines | first of them | reason |\n| --- | --- | --- | --- |\n"


def unreached(file):
    """Runs of unreached lines; lines without code between them do not end a run."""
    runs = []
    counts = {}
    for line in file["lines"]:
        if not line.get("gcovr/noncode"):
            number = line["line_number"]
            counts[number] = counts.get(number, 0) + line["count"]
    in_run = False
    for number in sorted(counts):
        if counts[number] > 0:
            in_run = False
        elif in_run:
            runs[-1][1] = number
        else:
            runs.append([number, number])
            in_run = True
    return runs


def code_cell(line):
    return "`" + line.strip().replace("|", "\\|") + "`"


def main(json_path, document_path):
    document = pathlib.Path(document_path)
    before, _, table = document.read_text().partition(HEAD)
    reasons = {}
    for row in table.splitlines():
        file, _, first, reason = re.split(r" (?<!\\)\| ", row.removeprefix("| ").removesuffix(" |"))
        reasons[file, first] = reason

    rows = []
    for file in sorted(json.load(open(json_path))["files"], key=lambda file: file["file"]):
        name = file["file"]
        if not name.startswith(JUDGED):
            continue
        text = pathlib.Path(name).read_text().splitlines()
        for first, last in unreached(file):
            lines = str(first) if first == last else f"{first}-{last}"
            code = code_cell(text[first - 1])
            reason = reasons.get((name, code), "**none given**")
            rows.append(f"| {name} | {lines} | {code} | {reason} |\n")
    document.write_text(before + HEAD + "".join(rows))
    print(f"{len(rows)} runs of lines, {sum('**none given**' in row for row in rows)} without a reason")


main(*sys.argv[1:])
