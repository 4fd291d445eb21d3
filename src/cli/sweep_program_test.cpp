// attest sweep: ranges, the table, the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/sweep_range.hpp"
#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"

namespace attest::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> values(const std::string& text) {
  const auto range = parse_sweep_range(text);
  EXPECT_TRUE(range.ok()) << range.status().message();
  std::vector<std::string> texts;
  if (range.ok())
    for (const SweepValue& value : range.value().values) texts.push_back(value.text);
  return texts;
}

TEST(SweepRange, IsARangeOrAList) {
  EXPECT_THAT(values("lk=64:64k:x4"), ElementsAre("64", "256", "1024", "4096", "16384", "65536"));
  EXPECT_THAT(values("lk=64:1k"), ElementsAre("64", "128", "256", "512", "1024"));
  EXPECT_THAT(values("lk=64,100,1000"), ElementsAre("64", "100", "1000"));
  EXPECT_THAT(values("d=8:32:+8"), ElementsAre("8", "16", "24", "32"));
  EXPECT_THAT(values("d=8:31:+8"), ElementsAre("8", "16", "24"));
  EXPECT_THAT(values("spread=0.5:2:x2"), ElementsAre("0.5", "1", "2"));
  EXPECT_THAT(values("dtype=bf16,f32"), ElementsAre("bf16", "f32"));
  EXPECT_EQ(values("spread=0.1:1:+0.1").size(), 10U);
}

TEST(SweepRange, SaysWhatIsWrongAndWhere) {
  for (const auto& [text, part] :
       {std::pair{"lk", "character 1: 'lk': not lk="},
        {"keys=1,2", "character 1: 'keys'"},
        {"lk=", "character 4: '': no number"},
        {"lk=64,6x", "character 7: '6x': no number"},
        {"lk=64:3:x4", "character 7: '3': the end is below the begin"},
        {"lk=64:640:4", "character 11: '4': a step is xFACTOR or +SUMMAND"},
        {"lk=64:640:x1", "character 11: 'x1': a factor must be above 1"},
        {"lk=64:640:+0", "a summand must be above 0"},
        {"lk=1:2:x2:3", "character 11: '3': a range is BEGIN:END"},
        {"lk=0.5", "lk takes whole numbers"},
        {"d=0", "must be above 0"},
        {"lk=nan", "no number"},
        {"lk=1:1000k:+1", "more than 1000 values"},
        {"dtype=f31", "character 7: 'f31': no dtype"}}) {
    const auto range = parse_sweep_range(text);
    ASSERT_FALSE(range.ok()) << text;
    EXPECT_THAT(range.status().message(), HasSubstr(part));
    EXPECT_EQ(range.status().message().find('\n'), std::string::npos);
  }
}

class Sweep : public ProgramTest {
 protected:
  Finished sweep(const Words& more) const {
    Words arguments{"sweep", "--out", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  /// The lines of run.jsonl that are points.
  std::string written() const {
    std::string points;
    for (const std::string& line : lines_of(read("out/run.jsonl")))
      if (line.starts_with("{\"type\":\"sweep\"")) points += line + '\n';
    return points;
  }
  std::vector<Json> points() const { return json_lines(written()); }
};

TEST_F(Sweep, HasTheNumbersWorkedOutByHand) {
  // One key: the output is v, exactly. Two equal keys: (1 + 1 + 2^-7) / 2 = 1 + 2^-8 is a tie of
  // bf16 (steps of 2^-7): every kernel that computes in f32 gives 1, an error of half an ulp.
  const Finished run = sweep({"builtin:textbook", "1x1:1x2:1 bf16 vals=lit:0;0,0;1,1.0078125",
                              "--over", "dtype=bf16,f32", "--cases", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.err << run.out;
  const std::vector<Json> all = points();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].at("dtype"), "bf16");
  EXPECT_EQ(all[0].at("outputs"), 1);
  EXPECT_EQ(all[0].at("max_error"), 0x1p-8);
  EXPECT_EQ(all[0].at("rms_error"), 0x1p-8);
  EXPECT_EQ(all[0].at("bias"), -0x1p-8);
  EXPECT_EQ(all[0].at("bias_high"), "inf");  // one sample has no interval
  EXPECT_EQ(all[0].at("ulp_max"), 0.5);
  // The twin rounds the weights 0.5 exactly and the same sum.
  EXPECT_EQ(all[0].at("twin_ratio"), 1);
  EXPECT_GT(all[0].at("ratio"), 0);
  EXPECT_LE(all[0].at("ratio"), 1);
  EXPECT_EQ(all[1].at("dtype"), "f32");
  EXPECT_EQ(all[1].at("max_error"), 0);
  EXPECT_EQ(all[1].at("twin_ratio"), 0);
  EXPECT_THAT(run.out, HasSubstr("dtype  dtype  max err  rms err"));
}

TEST_F(Sweep, DoesNotDependOnTheNumberOfJobs) {
  const auto lines = [&](const std::string& jobs) {
    EXPECT_EQ(sweep({"builtin:scalar_tree", "--over", "lk=16:64:x2", "--dtype", "bf16,f32",
                     "--jobs", jobs})
                  .exit_code,
              0);
    return lines_of(written());
  };
  const auto one = lines("1");
  EXPECT_EQ(one.size(), 6U);
  EXPECT_EQ(one, lines("3"));
}

TEST_F(Sweep, ReplaysItsWorstElement) {
  EXPECT_EQ(sweep({"builtin:simd/SCALAR", "--over", "spread=1,8", "--seed", "7", "--cases", "2"})
                .exit_code,
            0);
  const std::vector<Json> all = points();
  ASSERT_EQ(all.size(), 2U);
  const std::string replay = all[1].at("replay");
  EXPECT_THAT(replay,
              testing::StartsWith("attest replay builtin:simd/SCALAR '1x4:4x1024:64 f32 scale=1 "));
  const std::size_t quote = replay.find('\'');
  const std::string line = replay.substr(quote + 1, replay.size() - quote - 2);
  const Finished again = run({"check", "builtin:simd/SCALAR", line, "--only", "bound.out"});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
}

TEST_F(Sweep, ShowsAWrongKernelBeyondItsBound) {
  const Finished run = sweep({"mutant:skips_last_partial_tile", "1x1:4x40:8 f32 tile=16", "--over",
                              "lk=32,40", "--cases", "1"});
  EXPECT_EQ(run.exit_code, 1) << run.out;
  const std::vector<Json> all = points();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_LE(all[0].at("ratio"), 1);
  EXPECT_GT(all[1].at("ratio"), 1);
  EXPECT_GT(all[1].at("twin_ratio"), 2);
}

TEST_F(Sweep, HasAReasonForWhatTheKernelDoesNotTake) {
  const Finished run =
      sweep({"builtin:eigen_materialised", "--over", "dtype=bf16,f32", "--cases", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("not measured: "));
  EXPECT_TRUE(points()[0].contains("reason"));
  EXPECT_FALSE(points()[0].contains("max_error"));
  const Finished none = sweep({"builtin:eigen_materialised", "--over", "dtype=bf16"});
  EXPECT_EQ(none.exit_code, 3) << none.out;
}

TEST_F(Sweep, RefusesWhatCannotBeInOneLine) {
  const std::string kernel = "builtin:textbook";
  expect_refused({"sweep", kernel, "--over", "lk=64:3:x4"}, {"character 7", "below the begin"});
  expect_refused({"sweep", kernel, "--over", "x=1"}, {"not lk="});
  expect_refused(
      {"sweep", kernel, "1x1:1x3:1 f32 vals=lit:1;0,0,0;1,2,3", "--cases", "1", "--over", "lk=2"},
      {"lk=2", "one shape only"});
  expect_refused({"sweep", kernel, "1x1:1x3:1 f32 mask=bits:101", "--over", "lk=2"}, {"lk=2"});
  expect_refused({"sweep", kernel, "--over", "dtype=f32", "--dtype", "bf16"}, {"use one of them"});
  expect_refused({"sweep", kernel, "--over", "lk=2", "--dtype", "f31"}, {"f31"});
  expect_refused({"sweep", "builtin:nothing", "--over", "lk=2"}, {"builtin:nothing"});
  expect_refused({"sweep", kernel, "--over", "lk=64k:64000k:x32"}, {"lk=2097152", "too large"});
}

}  // namespace
}  // namespace attest::cli
