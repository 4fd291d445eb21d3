// attest replay: saved cases, folders of them, problem lines, and what is wrong with either.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"
#include "properties/laws.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kTree = "builtin:scalar_tree";

class Replay : public ProgramTest {
 protected:
  /// The folder of a case on which mutant:averages_tile_outputs breaks bound.out.
  std::string save_case() const {
    return labelled(
        run({"check", "mutant:averages_tile_outputs", "--only", "bound.out", "--out", "out"}).out,
        "saved");
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = read(file);
    ASSERT_NE(text.find(from), std::string::npos);
    write(file, text.replace(text.find(from), from.size(), to));
  }
};

TEST_F(Replay, ASavedCaseRunsOnItsOwnKernelOrOnANamedOne) {
  const std::string saved = save_case();
  const Finished own = run({"replay", saved});
  EXPECT_EQ(own.exit_code, 1);
  EXPECT_THAT(own.out, AllOf(StartsWith("FAIL bound.out"), HasSubstr("V = 1 0 "),
                             HasSubstr("attest replay mutant:averages_tile_outputs '1x1:1x2:1")));
  for (const Words& words : {Words{"replay", kTree, saved}, Words{"replay", saved, kTree}}) {
    const Finished named = run(words);
    EXPECT_EQ(named.exit_code, 0) << named.out;
    EXPECT_THAT(last_line(named.out), StartsWith("PASSED  1 passed"));
  }
}

TEST_F(Replay, AFolderOfARunReplaysAllItsCases) {
  run({"check", "mutant:causal_one_too_many", "--only", "bound.*,mask.tables", "--out", "out"});
  EXPECT_THAT(last_line(run({"replay", "out"}).out), StartsWith("FAILED  0 passed  3 violated"));
  EXPECT_THAT(last_line(run({"replay", kTree, "out"}).out), StartsWith("PASSED  3 passed"));
}

TEST_F(Replay, ALineWithoutALawRunsEveryLaw) {
  const Finished every = run({"replay", kTree, "1x1:2x3:2 f32 lse=ln"});
  EXPECT_EQ(every.exit_code, 0) << every.out;
  for (const properties::Law& law : properties::laws())
    EXPECT_THAT(every.out, HasSubstr(" " + std::string(law.name) + " "));
}

TEST_F(Replay, WhereNothingWasCheckedIsUndecided) {
  const Finished nothing =
      run({"replay", "builtin:textbook", "1x1:1x2:1 f32 lse=ln law=merge.any_tree"});
  EXPECT_EQ(nothing.exit_code, 3) << nothing.out;
  EXPECT_THAT(nothing.out, StartsWith("skipped "));
  EXPECT_THAT(last_line(nothing.out), StartsWith("UNDECIDED  0 passed"));
}

TEST_F(Replay, WrongUseIsRefused) {
  std::filesystem::create_directory(folder() / "empty");
  expect_refused({"replay", kTree}, {"problem line", "saved case"});
  expect_refused({"replay", "1x1:1x2:1 f32"}, {"kernel"});
  expect_refused({"replay", "builtin:nope", "1x1:1x2:1 f32"}, {"builtin:nope", kTree});
  expect_refused({"replay", kTree, "builtin:textbook", "1x1:1x2:1 f32"},
                 {kTree, "builtin:textbook"});
  expect_refused({"replay", kTree, "empty"}, {"empty"});
}

TEST_F(Replay, ABadLineIsRefusedWithACaretBelowThePlace) {
  for (const auto& [problem, word] : {std::pair<std::string, std::string>{"1x1:1y2:1 f32", "y"},
                                      {"1x1:1x2:1 f32 law=bound.nope", "law=bound.nope"}}) {
    const Finished finished = run({"replay", kTree, problem});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(finished.out, "");
    expect_caret_below(finished, problem, word);
  }
}

TEST_F(Replay, AContradictionIsRefusedWithACaretBelowThePlace) {
  for (const auto& [problem, word] : std::vector<std::pair<std::string, std::string>>{
           {"*x1:4x8:2 f32 mask=causal:br", "x8:"},                     // no lengths
           {"1x3/2:4x5:2 f32", "3/2"},                                  // heads
           {"1x1:2x3:2 f32 win=3:*", "win=3:*"},                        // no diagonal
           {"1x1:2x3:2 f32 mask=causal:tl win=-1:0", "-1"},             // a negative side
           {"1x1:4x5:2 f32 keep=first:2", "first:2"},                   // no window
           {"1x1:1x8:2 f32 kv=paged:4:2:0,2", "0,2"},                   // page 2 of 2
           {"1x1:1x8:2 f32 kv=paged:4:2:0", "2:0"},                     // too few pages
           {"1x1:2x3:2 f32 bwd=dq,dk,dv,dsink", "bwd=dq,dk,dv,dsink"},  // no sink
           {"1x1:2x3:2 f32 lse=log2 bwd=dq,dk,dv", "bwd=dq,dk,dv"},     // another lse
           {"1x1:2x3:2 f32 mask=prefix:2", "mask=prefix:2"}}) {         // not causal
    const Finished finished = run({"replay", kTree, problem});
    EXPECT_EQ(finished.exit_code, 2) << problem;
    EXPECT_EQ(finished.out, "");
    expect_caret_below(finished, problem, word);
  }
}

TEST_F(Replay, ALineMayHaveEveryFeatureGradientsAndANote) {
  for (const std::string line :
       {"*x4/2:{3,1}x{5,2}:4/2 bf16 mask=causal:br win=2:0 keep=first:1 cap=30 bias=bh2d "
        "alibi=abs:br order=scale,bias,cap,alibi sink=head lse=ln layout=thd "
        "bwd=dq,dk,dv,dbias,dsink",
        "1x1:2x8:4 e4m3 mask=add:0,-inf,1,0,0,0,0,0 descale=2;0.5;4 kv=paged:4 lse=max_sum out=f16",
        "1x1:1x2:1 f32 lse=ln bwd=dq,dk,dv,dlse vals=lit:1;0,1.09861229;1,3;dout=0;dlse=1  "
        "# B31 want out=[2.500000] lse=[1.386294]"}) {
    const Finished finished = run({"replay", kTree, line});
    EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
    EXPECT_EQ(finished.err, "");
  }
}

TEST_F(Replay, AFolderThatIsNotThereIsNamed) {
  const Finished finished = run({"replay", kTree, "no/such/folder"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("no/such/folder"));
}

TEST_F(Replay, ABrokenCaseIsRefusedAndNamed) {
  const std::string saved = save_case();
  const std::string json = saved + "/case.json";
  const std::string whole = read(json);
  const auto expect_broken = [&](const Words& parts) {
    expect_refused({"replay", saved}, parts);
    write(json, whole);
  };
  write(json, whole.substr(0, whole.size() / 2));
  expect_broken({json});
  write(json, "[]");
  expect_broken({json});
  replace(json, "attest-case", "other-case");
  expect_broken({json});
  replace(json, "\"version\": 1", "\"version\": 99");
  expect_broken({json, "version"});
}

TEST_F(Replay, AnUnknownLawOrKernelOfACaseIsNamedWithItsFile) {
  const std::string json = save_case() + "/case.json";
  replace(json, "law=bound.out", "law=bound.nope");
  expect_refused({"replay", "out"}, {json, "bound.nope"});
  replace(json, "law=bound.nope", "law=bound.out");
  replace(json, "mutant:averages_tile_outputs", "mutant:nope");
  expect_refused({"replay", "out"}, {json, "mutant:nope"});
}

TEST_F(Replay, ABrokenProblemInACaseIsShownWithACaret) {
  const std::string saved = save_case();
  replace(saved + "/case.json", "1x1:1x2:1", "1x1:1y2:1");
  const Finished finished = run({"replay", saved});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, StartsWith("attest: " + saved + "/case.json: "));
  expect_caret_below(finished, "1x1:1y2:1 f32", "y");
}

TEST_F(Replay, TensorsThatAreMissingCutOrDoNotFitAreRefusedAndNamed) {
  const std::string saved = save_case();
  const std::string tensors = saved + "/case.safetensors";
  const std::string whole = read(tensors);
  replace(saved + "/case.json", "1x1:1x2:1", "1x1:1x3:1");
  expect_refused({"replay", saved}, {saved, "k", "does not fit"});
  replace(saved + "/case.json", "1x1:1x3:1", "1x1:1x2:1");
  write(tensors, whole.substr(0, whole.size() - 1));
  expect_refused({"replay", saved}, {tensors + ": byte "});
  std::filesystem::remove(folder() / tensors);
  expect_refused({"replay", saved}, {tensors});
}

TEST_F(Replay, OneBrokenCaseOfAFolderIsNamed) {
  save_case();
  write("out/cases/broken/case.json", "{");
  expect_refused({"replay", "out"}, {"out/cases/broken/case.json"});
}

}  // namespace
}  // namespace attest::cli
