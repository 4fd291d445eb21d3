// Kernels that do what no kernel may do: the run goes on, the verdict is right, other cases are
// judged as those of a good kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"
#include "foreign/shadow_memory.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kPlugin = ATTEST_MISBEHAVING_PLUGIN;

/// The kernel misbehaves in the second one.
const Words kLines{"1x1:2x4:2 f32 law=bound.out", "1x1:2x5:2 f32 law=bound.out",
                   "1x2:3x6:2 f32 law=bound.out"};

class Isolation : public ProgramTest {
 protected:
  Finished replay(const std::string& kernel, const Words& options = {}) const {
    Words words{"replay", kernel};
    words.insert(words.end(), kLines.begin(), kLines.end());
    words.insert(words.end(), options.begin(), options.end());
    return run(words);
  }
  /// What is said of the first and of the third line.
  static Words of_the_others(const Finished& replayed) {
    Words found;
    for (const std::string& line : lines_of(replayed.out))
      for (const char* const problem : {"1x1:2x4:2 f32", "1x2:3x6:2 f32"})
        if (line.ends_with(problem)) found.push_back(line);
    return found;
  }
};

TEST_F(Isolation, TheGoodKernelPassesInAWorkerAsInThisProcess) {
  const Finished in_worker = replay(kPlugin);
  const Finished in_process = replay(kPlugin, {"--isolate", "none"});
  EXPECT_EQ(in_worker.exit_code, 0) << in_worker.out << in_worker.err;
  EXPECT_EQ(in_worker.out, in_process.out);
  EXPECT_EQ(of_the_others(in_worker).size(), 2U);
}

struct Misdeed {
  const char* name;
  const char* outcome;
  int exit_code;
  const char* sentence;
};

class Misbehaving : public Isolation, public testing::WithParamInterface<Misdeed> {};

TEST_P(Misbehaving, IsJudgedRightAndLeavesOtherCasesAlone) {
  const Misdeed& misdeed = GetParam();
  const std::string kernel = kPlugin + ":kernel_that_" + misdeed.name;
  const Words limits{"--case-timeout", "2", "--mem-limit", "256"};
  const Finished replayed = replay(kernel, limits);
  SCOPED_TRACE(replayed.out + replayed.err);
  EXPECT_EQ(replayed.exit_code, misdeed.exit_code);
  EXPECT_THAT(replayed.out, AllOf(HasSubstr(std::string(misdeed.outcome) + " bound.out"),
                                  HasSubstr(misdeed.sentence)));
  EXPECT_THAT(last_line(replayed.out), StartsWith("FAILED  2 passed  1 violated"));
  EXPECT_EQ(of_the_others(replayed), of_the_others(replay(kPlugin)));
}

TEST_P(Misbehaving, IsSavedAndTheRunGoesOn) {
  const Misdeed& misdeed = GetParam();
  const std::string kernel = kPlugin + ":kernel_that_" + misdeed.name;
  Words words{"check",
              kernel,
              "1x1:2x4:2 f32",
              "1x1:2x5:2 f32",
              "1x2:3x6:2 f32",
              "--only",
              "bound.out,symmetry.key_permutation",
              "--out",
              "out",
              "--shrink-time",
              "1",
              "--case-timeout",
              "2",
              "--mem-limit",
              "256"};
  const Finished checked = run(words);
  SCOPED_TRACE(checked.out + checked.err);
  EXPECT_EQ(checked.exit_code, misdeed.exit_code);
  EXPECT_THAT(checked.out,
              AllOf(HasSubstr(std::string(misdeed.outcome) + " bound.out"),
                    HasSubstr(misdeed.sentence), HasSubstr("attest replay " + kernel)));
  const std::string saved = labelled(checked.out, "saved");
  const Finished again = run({"replay", saved, "--case-timeout", "2", "--mem-limit", "256"});
  EXPECT_EQ(again.exit_code, misdeed.exit_code) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr(misdeed.sentence));
}

std::vector<Misdeed> misdeeds() {
  std::vector<Misdeed> all{
      {"segfaults", "CRASH", 4, "killed by SIGSEGV"},
      {"aborts", "CRASH", 4, "killed by SIGABRT"},
      {"exits", "CRASH", 4, "ended with exit code 3"},
      {"hangs", "TIMEOUT", 4, "gave no answer within 2 s"},
      {"recurses", "CRASH", 4, "killed by SIGSEGV"},
      {"prints", "FAIL", 1, "printed 12 bytes on standard output: 'hello world '"},
      {"prints_without_end", "FAIL", 1, " bytes on standard output: 'ATP1 this is no"},
      {"writes_past_the_end", "FAIL", 1, "wrote past the end of out"},
      {"writes_far_past_the_end", "FAIL", 1, "wrote past the end of out"},
      {"writes_before_the_beginning", "FAIL", 1, "wrote before the beginning of out"},
      {"reads_past_the_end", "FAIL", 1, "read past the end of q"},
      {"changes_an_input", "FAIL", 1, "changed k, an input"},
      {"changes_the_rounding", "FAIL", 1, "left the rounding mode changed"},
      {"returns_nonsense", "CRASH", 4, "returned 77, which is no code"}};
  if (!foreign::kHasShadowMemory)  // else the program under test has no limit of memory
    all.push_back({"eats_memory", "CRASH", 4, "out of memory (limit 256 MiB)"});
#if defined(__x86_64__)
  all.push_back({"flushes_to_zero", "FAIL", 1, "left flush-to-zero on"});
#endif
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every, Misbehaving, testing::ValuesIn(misdeeds()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_F(Isolation, TensorsThatReachFarAreSpreadOutInTheWorker) {
  const std::string line = "1x1:2x5:2 f32 law=contract.wide_strides";
  const Finished good = run({"replay", kPlugin, line});
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  EXPECT_THAT(last_line(good.out), StartsWith("PASSED  1 passed"));
  const std::string wraps = kPlugin + ":kernel_that_wraps_offsets";
  EXPECT_EQ(run({"replay", wraps, "1x1:2x5:2 f32 law=bound.out"}).exit_code, 0);
  const Finished bad = run({"replay", wraps, line});
  EXPECT_EQ(bad.exit_code, 1) << bad.out << bad.err;
  EXPECT_THAT(bad.out, StartsWith("FAIL contract.wide_strides"));
}

/// One member has half as many keys as its tensors have rows, which no text says.
TEST_F(Isolation, TensorsThatAreLongerThanEveryMemberAreTakenByTheWorker) {
  const auto judged = [&](const std::string& symbol, const Words& options) {
    Words words{"replay", kPlugin + symbol, "1x1:2x5:2 f32 lse=ln law=storage.left_padding",
                "1x2:3x6:2 f32 mask=causal:br split=at:5 law=storage.left_padding"};
    words.insert(words.end(), options.begin(), options.end());
    return run(words);
  };
  const Finished good = judged(":kernel_with_left_padding", {});
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  EXPECT_THAT(last_line(good.out), StartsWith("PASSED  2 passed"));
  const Finished bad = judged(":kernel_that_ignores_left_padding", {});
  EXPECT_EQ(bad.exit_code, 1) << bad.out << bad.err;
  EXPECT_THAT(bad.out, StartsWith("FAIL storage.left_padding"));
  EXPECT_EQ(bad.out, judged(":kernel_that_ignores_left_padding", {"--isolate", "none"}).out);
}

/// Data of 64 KiB and more go to a worker through shared memory.
TEST_F(Isolation, LargeTensorsAreJudgedAsInThisProcess) {
  const std::string line = "1x8:64x5:32 f32 lse=ln law=bound.out";
  const Finished good = run({"replay", kPlugin, line});
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("err/bound"));
  EXPECT_EQ(good.out, run({"replay", kPlugin, line, "--isolate", "none"}).out);
  const Finished bad = run({"replay", kPlugin + ":kernel_that_writes_past_the_end", line});
  EXPECT_EQ(bad.exit_code, 1) << bad.out << bad.err;
  EXPECT_THAT(bad.out, HasSubstr("wrote past the end of out"));
}

TEST_F(Isolation, ATimeoutIsAnOutcomeInEveryReport) {
  const Finished checked =
      run({"check", kPlugin + ":kernel_that_hangs", "1x1:2x5:2 f32", "--only", "bound.out", "--out",
           "out", "--case-timeout", "0.5", "--format", "junit=junit.xml"});
  EXPECT_EQ(checked.exit_code, 4) << checked.out << checked.err;
  EXPECT_THAT(read("out/run.jsonl"), HasSubstr(R"("outcome":"timeout")"));
  EXPECT_THAT(read("junit.xml"), HasSubstr(R"(type="timeout")"));
  for (const char* const file : {"again.html", "again.json", "again.md"}) {
    const Finished rendered = run({"report", "out", "-o", file});
    EXPECT_EQ(rendered.exit_code, 0) << rendered.err;
    EXPECT_THAT(read(file), HasSubstr("TIMEOUT")) << file;
  }
  EXPECT_EQ(run({"compare", "out", "out"}).exit_code, 0);
}

TEST_F(Isolation, AKernelThatAlwaysHangsIsSoonNotCalledAnyMore) {
  const std::string kernel = kPlugin + ":kernel_that_hangs";
  const Finished checked = run({"check", kernel, "1x1:2x5:2 f32", "--only", "bound.*,symmetry.*",
                                "--out", "out", "--case-timeout", "0.5", "-j", "1"});
  EXPECT_EQ(checked.exit_code, 4) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("not called any more: the last 5 calls gave no answer"));
}

/// Programs behind a pipe, in sh: what they say is no kernel's description.
struct BadProgram {
  const char* name;
  const char* command;
  const char* sentence;
};

class BadPipe : public Isolation, public testing::WithParamInterface<BadProgram> {};

TEST_P(BadPipe, IsRefusedWithOneLine) {
  expect_refused({"check", std::string("pipe:") + GetParam().command, "--case-timeout", "1"},
                 {"cannot use pipe:", GetParam().sentence});
}

INSTANTIATE_TEST_SUITE_P(
    Every, BadPipe,
    testing::Values(
        BadProgram{"is_not_there", "no-such-program-here", "ended with exit code 127"},
        BadProgram{"ends_at_hello", "head -c 20 >/dev/null; echo oh >&2; exit 7",
                   "ended with exit code 7; standard error ends with 'oh'"},
        BadProgram{"is_killed", "kill -SEGV $$", "killed by SIGSEGV"},
        BadProgram{"says_hello_world", "echo hello world; cat >/dev/null",
                   "a frame begins with ATP1, not with 'hello world"},
        BadProgram{"hangs", "cat >/dev/null; sleep 100", "gave no answer within 1 s"},
        BadProgram{"closes_its_output", "exec >&-; sleep 100", "closed its standard output"},
        BadProgram{"claims_a_huge_line",
                   R"(printf 'ATP1\377\377\377\177\0\0\0\0\0\0\0\0'; sleep 9)",
                   "a frame says that its line has 2047 MiB"},
        BadProgram{"claims_huge_data", R"(printf 'ATP1\2\0\0\0\0\0\0\0\1\0\0\0{}'; sleep 9)",
                   "a frame says that it has 4294967296 bytes of data"},
        BadProgram{"stops_in_a_frame", R"(printf 'ATP1\100\0\0\0\0\0\0\0\0\0\0\0{'; sleep 9)",
                   "gave no answer within 1 s, only a part of it"},
        BadProgram{"says_no_json", R"(printf 'ATP1\4\0\0\0\0\0\0\0\0\0\0\0{;}\n'; sleep 9)",
                   "the line of a frame is no JSON object: '{;}'"},
        BadProgram{"has_no_line_end", R"(printf 'ATP1\3\0\0\0\0\0\0\0\0\0\0\0{ }'; sleep 9)",
                   "the line of a frame does not end"},
        BadProgram{
            "speaks_another_version",
            R"(l='{"id":1,"status":"ok","protocol":2}'; )"
            R"(printf "ATP1\\$(printf %o $((${#l}+1)))\0\0\0\0\0\0\0\0\0\0\0%s\n" "$l"; sleep 9)",
            "it speaks version 2 of the pipe protocol; this is version 1"},
        BadProgram{
            "answers_with_another_id",
            R"(l='{"id":5,"status":"ok","protocol":1}'; )"
            R"(printf "ATP1\\$(printf %o $((${#l}+1)))\0\0\0\0\0\0\0\0\0\0\0%s\n" "$l"; sleep 9)",
            "it answers request 5, but was asked 1"},
        BadProgram{
            "says_more_than_its_frame",
            R"(l='{"id":1,"status":"ok","protocol":1}'; )"
            R"(printf "ATP1\\$(printf %o $((${#l}+1)))\0\0\0\0\0\0\0\0\0\0\0%s\nmore" "$l"; sleep 9)",
            "more bytes follow its frame"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace attest::cli
