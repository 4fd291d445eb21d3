"""Runs attest on every kernel of kernels.json and leaves the runs below a folder.

  python3 examples/foreign/run_kernels.py ATTEST FOLDER [ID...]

Each kernel gets FOLDER/ID/ with one folder a run: `recorded-TYPE` (the heads of recorded.txt in a
type), `problems-GROUP` (a group of problems.txt), `smoke` (generated cases) and `answer-N-M` (answer M
of question N of questions.json).
A kernel whose library is missing is one line, and no folder. make_page.py writes the page of them.
"""

import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
# Seconds: the first import of a library on a busy machine takes longer than any case.
PATIENCE = "300"
LAWS_OF_PROBLEMS = "bound.*,symmetry.constant_values"
TYPES = ("f32", "f64", "bf16", "f16")
# Exit codes of attest that are a result: passed, violated, undecided, the kernel crashed.
RESULTS = (0, 1, 3, 4)


def is_there(entry):
    try:
        return subprocess.run(entry["needs"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def run(arguments, folder):
    """One run of attest; its words are kept beside its lines."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    command = [*arguments, "--out", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode not in RESULTS:
        sys.exit(f"run_kernels.py: exit code {result.returncode} of {command}\n{result.stderr}")
    (folder / "words.txt").write_text(result.stdout + result.stderr)


def lines_of(name):
    return [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]


def groups_of_problems():
    """The groups of problems.txt: name and lines."""
    groups = []
    for line in lines_of("problems.txt"):
        if line.startswith("== "):
            groups.append((line[3:], []))
        else:
            groups[-1][1].append(line)
    return groups


def check_kernel(attest, entry, questions, folder):
    kernel = entry["kernel"]
    one_worker = ["-j", "1", "--shrink-time", "2", "--case-timeout", PATIENCE]
    for dtype in TYPES:
        lines = [line.replace("TYPE", dtype) for line in lines_of("recorded.txt")]
        run([attest, "check", kernel, *lines, "--tensors", "data/real", "--only", "bound.out", *one_worker],
            folder / f"recorded-{dtype}")
    for name, lines in groups_of_problems():
        run([attest, "check", kernel, *lines, "--only", LAWS_OF_PROBLEMS, *one_worker], folder / f"problems-{name}")
    run([attest, "check", kernel, "--tier", "smoke", *one_worker], folder / "smoke")
    for number, question in enumerate(questions):
        asked = entry.get("flag") if question.get("flag") else kernel
        if asked is None:
            continue
        for choice, (_, line) in enumerate(question["answers"]):
            run([attest, "check", asked, line, "--only", question["law"], "-j", "1", "--shrink-time", "0",
                 "--case-timeout", PATIENCE],
                folder / f"answer-{number}-{choice}")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    attest, folder, chosen = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    entries = json.loads((HERE / "kernels.json").read_text())
    questions = json.loads((HERE / "questions.json").read_text())
    unknown = set(chosen) - {entry["id"] for entry in entries}
    if unknown:
        sys.exit(f"run_kernels.py: no kernel {', '.join(sorted(unknown))} in kernels.json")
    for entry in entries:
        if chosen and entry["id"] not in chosen:
            continue
        place = folder / entry["id"]
        shutil.rmtree(place, ignore_errors=True)
        if not is_there(entry):
            print(f"{entry['id']}: skipped, {entry['package']} is missing")
            continue
        print(f"{entry['id']}: {entry['kernel']}", flush=True)
        check_kernel(attest, entry, questions, place)


if __name__ == "__main__":
    main()
