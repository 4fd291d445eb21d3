// Programs behind a pipe: the worked example in numpy, and what becomes of it when it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::filesystem::path kExample = ATTEST_PIPE_EXAMPLES;

/// The first that has numpy, which is Debian's where another one comes first in PATH; empty: none.
std::string python() {
  for (const std::string name : {"python3", "/usr/bin/python3"})
    if (std::system((name + " -c 'import numpy' 2>/dev/null").c_str()) == 0) return name;
  return {};
}

class PipeProgram : public ProgramTest {
 protected:
  void SetUp() override {
    if (python().empty()) GTEST_SKIP() << "no python3 with numpy";
    for (const char* const name : {"attention.py", "attest_pipe.py"})
      std::filesystem::copy_file(kExample / name, folder() / name);
  }

  /// The example with this put before its last line.
  void change_example(const std::string& code) const {
    std::string text = read("attention.py");
    text.insert(text.rfind("attest_pipe.serve("), code + "\n");
    write("attention.py", text);
  }
  void decline_shared_memory() const {
    std::string text = read("attention.py");
    const std::string call = "attest_pipe.serve(DESCRIPTION, ";
    text.replace(text.rfind(call), call.size(), call + "shared_memory=False, ");
    write("attention.py", text);
  }
  Finished replay_three() const {
    return run({"replay", kernel(), "1x1:2x4:2 f32 law=bound.out", "1x1:2x5:2 f32 law=bound.out",
                "1x2:3x6:2 f32 law=bound.out", "--case-timeout", "5"});
  }
  /// The second problem fails with this, and the others do not.
  void expect_second_fails(const std::string& outcome, const std::string& sentence,
                           int exit_code) const {
    const Finished replayed = replay_three();
    EXPECT_EQ(replayed.exit_code, exit_code) << replayed.out << replayed.err;
    EXPECT_THAT(replayed.out, AllOf(HasSubstr(outcome + " bound.out"), HasSubstr(sentence)));
    EXPECT_THAT(last_line(replayed.out), StartsWith("FAILED  2 passed  1 violated"));
  }

  static std::string kernel() { return "pipe:" + python() + " attention.py"; }
  static constexpr const char* kOnlyWithFiveKeys =
      "good = forward\n"
      "def forward(call):\n"
      "    if call.problem.seq_kv == 5:\n"
      "        misbehave(call)\n"
      "    return good(call)\n";
};

TEST_F(PipeProgram, TheWorkedExamplePasses) {
  const Finished checked = run({"check", kernel(), "--tier", "smoke", "--out", "out"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_THAT(last_line(checked.out), StartsWith("PASSED  "));
  EXPECT_THAT(checked.out, HasSubstr("kernel " + kernel()));
}

TEST_F(PipeProgram, AWrongKernelIsFoundAndItsReplayLineIsForAShell) {
  change_example("head_of, head = head, lambda p, q, k, v, seen: head_of(p, q, k, -v, seen)");
  const Finished checked =
      run({"check", kernel(), "1x2:3x4:2 f32", "--only", "bound.out", "--out", "out"});
  EXPECT_EQ(checked.exit_code, 1) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("attest replay '" + kernel() + "' '1x1:"));
  EXPECT_EQ(run({"replay", labelled(checked.out, "saved")}).exit_code, 1);
}

TEST_F(PipeProgram, AnExceptionIsACrashThatItsLastLineExplains) {
  change_example(std::string("def misbehave(call):\n    raise ValueError('no five')\n") +
                 kOnlyWithFiveKeys);
  expect_second_fails("CRASH",
                      "ended with exit code 1; standard error ends with 'ValueError: no five'", 4);
}

TEST_F(PipeProgram, AHangIsATimeout) {
  change_example(std::string("import time\ndef misbehave(call):\n    time.sleep(100)\n") +
                 kOnlyWithFiveKeys);
  expect_second_fails("TIMEOUT", "gave no answer within 5 s", 4);
}

TEST_F(PipeProgram, AResultThatDoesNotComeBackIsACrash) {
  change_example(
      "whole = attest_pipe._results\n"
      "attest_pipe._results = lambda call: ([], []) if call.problem.seq_kv == 5 else whole(call)");
  expect_second_fails("CRASH", "tensor out did not come back", 4);
}

TEST_F(PipeProgram, AResultOfTheWrongSizeIsACrash) {
  change_example(
      "whole = attest_pipe._results\n"
      "def results(call):\n"
      "    tensors, parts = whole(call)\n"
      "    if call.problem.seq_kv == 5: tensors[0]['bytes'] -= 4\n"
      "    return tensors, parts\n"
      "attest_pipe._results = results");
  expect_second_fails("CRASH", "tensor out came back with 12 bytes instead of 16", 4);
}

TEST_F(PipeProgram, GarbageOnStandardOutputIsACrash) {
  change_example(std::string("import os\nout = os.dup(1)\n"
                             "def misbehave(call):\n    os.write(out, b'what a nice day\\n')\n") +
                 kOnlyWithFiveKeys);
  expect_second_fails("CRASH", "a frame begins with ATP1, not with 'what", 4);
}

TEST_F(PipeProgram, WhatPythonPrintsHarmsNothing) {
  change_example("def misbehave(call):\n    print('hello')\n" + std::string(kOnlyWithFiveKeys));
  EXPECT_EQ(replay_three().exit_code, 0);
}

/// A problem whose data are large enough for shared memory.
constexpr const char* kLarge = "1x8:64x5:32 f32 lse=ln law=bound.out";

TEST_F(PipeProgram, SharedMemoryGivesTheSameBitsAndItsFileIsGone) {
  change_example(
      "data_of, open_file = attest_pipe.SharedMemory.data, attest_pipe.SharedMemory.__init__\n"
      "def note(name, text): open(name, 'a').write(text + '\\n')\n"
      "def opened(self, path): note('offered', path); open_file(self, path)\n"
      "def data(self, count): note('used', str(count)); return data_of(self, count)\n"
      "attest_pipe.SharedMemory.__init__, attest_pipe.SharedMemory.data = opened, data\n"
      "head_of, head = head, lambda p, q, k, v, seen: head_of(p, q, k, -v, seen)");
  const Finished shared = run({"replay", kernel(), kLarge});
  EXPECT_EQ(shared.exit_code, 1) << shared.out << shared.err;
  EXPECT_THAT(shared.out, HasSubstr("got "));
  EXPECT_THAT(read("used"),
              StartsWith("143360\n"));  // 64 KiB of q and of out, 5 of k and of v, 2 of lse
  EXPECT_THAT(read("offered"), HasSubstr("/attest-"));
  for (const std::string& path : lines_of(read("offered")))
    EXPECT_FALSE(std::filesystem::exists(path)) << path;
  std::filesystem::remove(folder() / "used");
  decline_shared_memory();
  EXPECT_EQ(run({"replay", kernel(), kLarge}).out, shared.out);
  EXPECT_FALSE(std::filesystem::exists(folder() / "used"));
}

TEST_F(PipeProgram, AProgramThatSkipsTheOfferIsUnaffected) {
  decline_shared_memory();
  const Finished replayed = run({"replay", kernel(), kLarge});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
}

TEST_F(PipeProgram, TheSharedFileIsGoneWhenTheProgramIsKilledBeforeItAnswers) {
  change_example(
      "import os\n"
      "def opened(self, path):\n"
      "    open('offered', 'w').write(path + '\\n'); os.kill(os.getpid(), 9)\n"
      "attest_pipe.SharedMemory.__init__ = opened");
  const Finished refused = run({"replay", kernel(), kLarge});
  EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("when it was started: "));
  const Words offered = lines_of(read("offered"));
  ASSERT_FALSE(offered.empty());
  EXPECT_FALSE(std::filesystem::exists(offered.front()));
}

TEST_F(PipeProgram, ASharedFileThatIsCutShortIsACrash) {
  change_example(
      "import os\n"
      "of = attest_pipe._results_in_place\n"
      "open_file = attest_pipe.SharedMemory.__init__\n"
      "def opened(self, path): open_file(self, path); opened.file = self._file\n"
      "attest_pipe.SharedMemory.__init__ = opened\n"
      "def cut(call): os.ftruncate(opened.file.fileno(), 100); return of(call)\n"
      "attest_pipe._results_in_place = cut");
  const Finished replayed = run({"replay", kernel(), kLarge});
  EXPECT_EQ(replayed.exit_code, 4) << replayed.out << replayed.err;
  EXPECT_THAT(replayed.out, AllOf(HasSubstr("CRASH bound.out"),
                                  HasSubstr("its shared memory is shorter than its reply says")));
}

TEST_F(PipeProgram, MoreSharedBytesThanTheRequestHasAreRefused) {
  change_example(
      "answer = attest_pipe._answer\n"
      "def more(*of):\n"
      "    reply, parts = answer(*of)\n"
      "    if 'tensors' in reply: reply['shared'] = 1 << 40\n"
      "    return reply, ()\n"
      "attest_pipe._answer = more");
  const Finished replayed = run({"replay", kernel(), kLarge});
  EXPECT_EQ(replayed.exit_code, 4) << replayed.out << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("names 1099511627776 bytes of shared memory, where 143360"));
  decline_shared_memory();
  EXPECT_THAT(run({"replay", kernel(), kLarge}).out, HasSubstr("of shared memory, where 0 may"));
}

TEST_F(PipeProgram, NumbersOfEveryNarrowTypeComeBackFromTheModule) {
  write("narrow_check.py",
        "import numpy as np, attest_pipe as a\n"
        "for dtype, codes in (('bf16', np.arange(65536).astype(np.uint16)),\n"
        "                     ('e4m3', np.arange(256).astype(np.uint8)),\n"
        "                     ('e5m2', np.arange(256).astype(np.uint8))):\n"
        "    values = a.decoded(codes, dtype)\n"
        "    finite = np.isfinite(values)\n"
        "    assert (a.encoded(values, dtype)[finite] == codes[finite]).all(), dtype\n"
        "half = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1e9, -0.0])\n"
        "assert (a.encoded(half, 'bf16') == [0x3f80, 0x3f82, 0x4e6e, 0x8000]).all()\n"
        "ties = np.array([1 + 1/16, 1 + 3/16, 1e9, -0.0])\n"
        "assert (a.encoded(ties, 'e4m3') == [0x38, 0x3a, 0x7e, 0x80]).all()\n");
  const std::string command = "cd " + folder().string() + " && " + python() + " narrow_check.py";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace attest::cli
