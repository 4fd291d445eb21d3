"""Tests of make_page.py on runs that are written here: what it reads, and what it must not hide."""

import json
import pathlib
import tempfile
import unittest

import make_page

KERNEL = "pipe:run mine"
REPLAY = "attest replay 'pipe:run mine' '1x1:1x2:1 f32 law=bound.out'"


def case(outcome, **more):
    return {"type": "case", "kernel": KERNEL, "law": "bound.out", "problem": "1x1:1x2:1 f32",
            "outcome": outcome, "replay": REPLAY, **more}


WRONG = case("fail", worst_ratio=12.5, acts_like="win=2:0", witness={
    "tensor": "out", "row": [0, 1, 2], "column": 3, "got": "nan", "want": {"high": 0.5}})


def write_run(folder, *lines):
    folder.mkdir(parents=True)
    laws = [{"law": "bound.out", "sentence": "Every output is near.", "formula": ""}]
    head = {"type": "environment", "laws": laws,
            "kernels": [{"name": KERNEL, "version": "7", "declares": "f32"}]}
    violations = sum(1 for line in lines if line["type"] == "violation")
    counts = [{"law": "bound.out", "cases": 2, "skipped": 0, "violations": violations},
              {"law": "bound.lse", "cases": 2, "skipped": 2, "violations": 0}]
    tail = {"type": "summary", "laws": counts}
    text = "\n".join(json.dumps(line) for line in (head, *lines, tail))
    (folder / "run.jsonl").write_text(text)


QUESTION = {"question": "row without keys", "topic": "empty", "law": "bound.out",
            "answers": [["0", "line"], ["NaN", "line"]], "otherwise": "neither"}
FLAG = {**QUESTION, "question": "flag", "flag": True}
ENTRY = {"id": "mine", "title": "Mine", "kernel": KERNEL, "package": "nothing",
         "documentation": {"source": "its head", "empty": "not said"}}


class Page(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def answer(self, *cases, question=QUESTION, entry=ENTRY):
        for choice, line in enumerate(cases):
            write_run(self.folder / f"answer-0-{choice}", line)
        return make_page.answer(entry, 0, question, self.folder)

    def test_the_answer_that_passes_is_the_convention(self):
        self.assertEqual(self.answer(WRONG, case("ok")), ("**NaN**", f"`{REPLAY}`"))

    def test_no_answer_passes(self):
        found, replay = self.answer(WRONG, case("skipped"))
        self.assertEqual(found, "**neither**: out[0,1,2,3] is nan, should be 0.5 (12.5 x bound)")
        self.assertEqual(replay, f"`{REPLAY}`")

    def test_a_weak_answer_is_none(self):
        found, _ = self.answer(case("weak", reason="too wide"), case("skipped"))
        self.assertEqual(found, "**neither**: too wide")

    def test_what_is_skipped_cannot_be_asked(self):
        self.assertEqual(self.answer(case("skipped"), case("skipped")), ("cannot be asked", ""))

    def test_a_kernel_without_a_flag(self):
        self.assertEqual(self.answer(question=FLAG), ("there is no flag", ""))

    def test_findings_have_their_replay_line(self):
        write_run(self.folder / "problems-masks")
        write_run(self.folder / "smoke", {"type": "violation", "found": WRONG})
        text = "\n".join(make_page.finding_lines(self.folder))
        for part in ("**bound.out** (generated)", "Every output is near.", "is nan, should be 0.5",
                     "acts like: win=2:0", "\n      " + REPLAY):
            self.assertIn(part, text)
        self.assertEqual(make_page.law_counts(self.folder), (1, 1))

    def test_every_group_has_its_findings_and_they_come_first(self):
        shrunk = {**WRONG, "replay": "attest replay it 'shrunk law=bound.out'"}
        both = {"type": "violation", "found": WRONG, "shrunk": shrunk}
        write_run(self.folder / "problems-masks", both)
        write_run(self.folder / "problems-scores", {"type": "violation", "found": WRONG})
        write_run(self.folder / "smoke", both)
        names = [(name, case["replay"]) for name, case in make_page.findings(self.folder)]
        self.assertEqual(names, [("masks", REPLAY), ("scores", REPLAY), ("generated", shrunk["replay"])])

    def test_a_long_replay_line_or_a_folder_gives_way(self):
        for replay in ("attest replay it '" + "0," * 200 + " law=bound.out'", "attest replay '/a/folder'"):
            shrunk = {**WRONG, "replay": replay}
            self.assertEqual(make_page.shown({"found": WRONG, "shrunk": shrunk}), WRONG)
        self.assertEqual(make_page.shown({"found": WRONG}), WRONG)

    def test_violations_of_one_cause_stand_together(self):
        empty = {**WRONG, "acts_like": "NaN for empty rows: explains 3 of 3 rows"}
        violations = [{"type": "violation", "found": found} for found in (
            empty, WRONG, {**empty, "law": "bound.lse", "acts_like": "NaN for empty rows: explains 9 of 9 rows"},
            {**WRONG, "acts_like": ""}, {**WRONG, "acts_like": ""})]
        write_run(self.folder / "smoke", *violations)
        sizes = [len(group) for group in make_page.grouped(make_page.findings(self.folder))]
        self.assertEqual(sizes, [2, 1, 1, 1])
        self.assertIn("The same explains: bound.lse (generated).", "\n".join(make_page.finding_lines(self.folder)))

    def test_the_worst_recorded_head_of_each_type(self):
        write_run(self.folder / "recorded-f32", case("ok", dtype="f32", worst_ratio=0.1),
                  case("ok", dtype="f32", worst_ratio=0.3, replay="b"), case("skipped", dtype="f32"))
        write_run(self.folder / "recorded-f64", case("ok", dtype="f64", worst_ratio=9),
                  case("fail", dtype="f64", worst_ratio="inf", replay="c"))
        write_run(self.folder / "recorded-f16", case("skipped", dtype="f16"))
        rows = [(dtype, count, case["replay"]) for dtype, count, case in make_page.worst_recorded(self.folder)]
        self.assertEqual(rows, [("f32", 2, "b"), ("f64", 2, "c")])
        self.assertIn("| f64 | 2 |  | inf |  | fail | `c` |", make_page.errors(self.folder))

    def test_a_missing_library_is_said(self):
        text = "\n".join(make_page.overview([ENTRY], [QUESTION] * 3, self.folder))
        self.assertIn("not run: missing nothing", text)

    def test_a_bar_does_not_end_a_cell(self):
        self.assertIn("a\\|b", "\n".join(make_page.table(["x"], [["a|b"]])))


if __name__ == "__main__":
    unittest.main()
