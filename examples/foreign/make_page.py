"""Writes docs/foreign-kernels.md from the runs that run_kernels.py left.

  python3 examples/foreign/make_page.py FOLDER > docs/foreign-kernels.md

Every number and every finding is read from a run.jsonl; what a library says of itself is read from
kernels.json.
"""

import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
LONG = 200  # a replay line up to this length may well be longer than another one


class Run:
    """The lines of one run.jsonl."""

    def __init__(self, folder):
        with open(folder / "run.jsonl", encoding="utf-8") as stream:
            self.lines = [json.loads(line) for line in stream]

    def of(self, kind):
        return [line for line in self.lines if line["type"] == kind]

    def header(self):
        return self.lines[0]

    def kernel(self):
        return self.header()["kernels"][0]

    def laws(self):
        """Counts of every law that was not skipped altogether."""
        return [law for law in self.of("summary")[0]["laws"] if law["cases"] > law["skipped"]]


# -- text -------------------------------------------------------------------------------------------


def number(value, digits=3):
    """Numbers that JSON does not have are words in run.jsonl."""
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def code(text):
    return f"`{text}`"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return lines + [""]


# -- conventions ------------------------------------------------------------------------------------


def first_case(folder):
    cases = Run(folder).of("case")
    return cases[0] if cases else None


def replay_of(case):
    return code(case["replay"]) if case.get("replay") else ""


def answer(entry, number_of, question, folder):
    """What was found out, and the replay line that shows it."""
    if question.get("flag") and "flag" not in entry:
        return "there is no flag", ""
    cases = [first_case(folder / f"answer-{number_of}-{choice}") for choice in range(len(question["answers"]))]
    asked = [(name, case) for (name, _), case in zip(question["answers"], cases)
             if case is not None and case["outcome"] != "skipped"]
    if not asked:
        return "cannot be asked", ""
    for name, case in asked:
        if case["outcome"] == "ok":
            return f"**{name}**", replay_of(case)
    case = asked[0][1]
    return f"**{question['otherwise']}**: {witness_text(case)}", replay_of(case)


def conventions(entry, questions, folder):
    rows = []
    said = dict(entry["documentation"])
    for number_of, question in enumerate(questions):
        found, replay = answer(entry, number_of, question, folder)
        # What the documentation says of a topic stands beside its first question.
        rows.append([question["question"], found, said.pop(question["topic"], ""), replay])
    return table(["question", "measured", "its documentation", "shown by"], rows)


# -- errors -----------------------------------------------------------------------------------------


def worst_recorded(folder):
    """Of each type that the kernel takes: how many heads were judged, and the worst of them."""
    found = []
    for place in sorted(folder.glob("recorded-*")):
        cases = [case for case in Run(place).of("case") if case["outcome"] != "skipped"]
        if cases:
            found.append((cases[0]["dtype"], len(cases), max(cases, key=ratio)))
    return found


def ratio(case):
    value = case.get("worst_ratio", 0)
    return math.inf if isinstance(value, str) else value


def errors(folder):
    rows = []
    for dtype, count, case in worst_recorded(folder):
        error = case.get("witness", {}).get("error", "")
        rows.append([dtype, str(count), number(error), number(case.get("worst_ratio", 0)), number(case.get("ulp", "")),
                     case["outcome"], replay_of(case)])
    return table(["type", "heads", "error", "error / bound", "largest ULP", "verdict", "the worst of them"], rows)


# -- findings ---------------------------------------------------------------------------------------


def place(witness):
    row = ",".join(str(index) for index in witness["row"])
    column = f",{witness['column']}" if "column" in witness else ""
    return f"{witness['tensor']}[{row}{column}]"


def witness_text(case):
    witness = case.get("witness")
    if witness is None:
        return case.get("reason", case["outcome"])
    text = f"{place(witness)} is {number(witness['got'], 6)}, should be {number(witness['want']['high'], 6)}"
    ratio = case.get("worst_ratio", 0)
    return text + (f" ({number(ratio)} x bound)" if ratio else "")


def shown(violation):
    """The shrunk case, or the found one where only that has a replay line of its own or a shorter one."""
    cases = [violation[name] for name in ("shrunk", "found") if name in violation]
    lines = [case for case in cases if "law=" in case.get("replay", "")]
    return min(lines or cases, key=lambda case: max(LONG, len(case.get("replay", ""))))


def findings(folder):
    """Violations of the groups of problems.txt as they stand there: shrinking may well end at a row
    without keys, which these problems leave out. Then those of the generated cases."""
    found = [(place.name.removeprefix("problems-"), violation["found"])
             for place in sorted(folder.glob("problems-*")) for violation in Run(place).of("violation")]
    return found + [("generated", shown(violation)) for violation in Run(folder / "smoke").of("violation")]


def sentences(folder):
    return {law["law"]: law["sentence"] for law in Run(folder / "smoke").header()["laws"]}


def cause(case):
    """What a violation acts like, without the counts; empty where nothing explains it."""
    return case.get("acts_like", "").split(": explains")[0]


def grouped(found):
    """Violations of one cause together; one that nothing explains stands alone."""
    groups = {}
    for place, (name, case) in enumerate(found):
        groups.setdefault(cause(case) or place, []).append((name, case))
    return list(groups.values())


def finding_lines(folder):
    said = sentences(folder)
    lines = []
    for group in grouped(findings(folder)):
        name, case = group[0]
        acts = f" It acts like: {case['acts_like']}." if case.get("acts_like") else ""
        lines.append(f"- **{case['law']}** ({name}): {said.get(case['law'], '')} Here {witness_text(case)}.{acts}")
        others = [f"{other['law']} ({where})" for where, other in group[1:]]
        if others:
            lines.append(f"  The same explains: {', '.join(others)}.")
        lines += ["", "      " + case.get("replay", case["problem"]), ""]
    return lines or ["None.", ""]


def law_counts(folder):
    laws = Run(folder / "smoke").laws()
    violated = sum(1 for law in laws if law["violations"])
    return len(laws), violated


# -- page -------------------------------------------------------------------------------------------


def section(entry, questions, folder):
    kernel = Run(folder / "smoke").kernel()
    count, violated = law_counts(folder)
    return [f"## {entry['title']}", "",
            f"{kernel['version'] or 'no version'}, from {entry['package']}. Declares: {kernel['declares']}.", "",
            "    attest check " + shell_word(entry["kernel"]), "",
            f"Documentation: {entry['documentation']['source']}.", *known_reports(entry), "",
            "### Conventions", "", *conventions(entry, questions, folder),
            "### Errors on the recorded heads", "", *errors(folder),
            "### Laws that it violates", "",
            f"{violated} of {count} laws in the run of generated cases.", "", *finding_lines(folder)]


def known_reports(entry):
    """Public reports of what is seen here."""
    return [f"Public reports: {entry['reports']}."] if "reports" in entry else []


def shell_word(text):
    return f"'{text}'" if " " in text else text


def overview(entries, questions, folder):
    rows = []
    for entry in entries:
        place_of = folder / entry["id"]
        if not place_of.is_dir():
            rows.append([entry["title"], "not run: missing " + entry["package"], "", "", "", ""])
            continue
        count, violated = law_counts(place_of)
        ratios = ", ".join(f"{dtype} {number(case.get('worst_ratio', 0))}" for dtype, _, case in worst_recorded(place_of))
        # Of an answer that no reading gave, only the words that say so.
        empty, causal = (answer(entry, place, questions[place], place_of)[0].split(":")[0] for place in (0, 2))
        rows.append([entry["title"], Run(place_of / "smoke").kernel()["version"], ratios, empty, causal,
                     f"{violated} of {count}"])
    return table(["kernel", "version", "worst error / bound", "row without keys", "causal flag", "laws violated"], rows)


HEAD = """# Foreign kernels

Attention of other people's libraries under attest: what each does where nobody agrees, how large its errors are, and
which laws it violates. `./run foreign` made this page; nothing in it but the column of documentation is written by
hand. A violated law is a difference to the definition of attest (`include/attest/problem.hpp`), not always a mistake
of the library: a row without keys is NaN for some and zero for others.

The adapters are in `examples/foreign/`. They hand the problem to the library as it takes it, say `unsupported` for
the rest, and mend nothing. Padding of ragged members is ones. `error / bound` is the largest error over the derived
bound of `numerics.md`; beyond 1 it is no rounding. Replay lines run in the folder of the project.
"""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    entries = json.loads((HERE / "kernels.json").read_text())
    questions = json.loads((HERE / "questions.json").read_text())
    ran = [entry for entry in entries if (folder / entry["id"]).is_dir()]
    if not ran:
        sys.exit(f"make_page.py: no runs below {folder}; run_kernels.py makes them")
    lines = [HEAD, *overview(entries, questions, folder)]
    for entry in ran:
        lines += section(entry, questions, folder / entry["id"])
    print("\n".join(lines).rstrip())


if __name__ == "__main__":
    main()
