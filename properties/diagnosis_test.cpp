// What diagnosis says of kernels whose mistake is known, and when it says nothing.
#include "properties/diagnosis.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/run_recorder.hpp"

namespace attest::properties {
namespace {

Case made(const std::string& line) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << error.message;
  return make_case(text, nullptr).value();
}

std::vector<std::string> names(const std::vector<Explanation>& explanations) {
  std::vector<std::string> names;
  for (const Explanation& one : explanations) names.emplace_back(one.name);
  return names;
}

const Law& law(const char* name) {
  return *find_law(name);
}

/// Sees one key too many in the first batch member, one too few in the others.
class TwoMistakes : public Kernel {
 public:
  explicit TwoMistakes(Index second) : second_(second) {}
  const KernelDescription& description() const override { return correct_->description(); }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return correct_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (!problem.mask.causal || problem.batch != 2)
      return correct_->forward(problem, tiling, views);
    for (Index b = 0; b < 2; ++b) {
      Problem member = problem;
      member.batch = 1;
      member.mask.causal = Causal{Causal::Alignment::explicit_offset,
                                  causal_offset(problem, b) + (b == 0 ? 1 : second_)};
      ForwardViews of_member = views;
      for (ConstTensorRef* const view : {&of_member.q, &of_member.k, &of_member.v})
        *view = member_of(*view, b);
      of_member.out = member_of(views.out, b);
      if (problem.lse != LseForm::none) of_member.lse = member_of(views.lse, b);
      if (Status status = correct_->forward(member, tiling, of_member); !status.ok()) return status;
    }
    return {};
  }

 private:
  template <class View>
  static View member_of(View view, Index b) {
    using Byte = std::conditional_t<std::is_same_v<View, TensorRef>, std::byte, const std::byte>;
    view.data = static_cast<Byte*>(view.data) +
                b * view.strides[0] * static_cast<Index>(size_of(view.dtype));
    view.extents[0] = 1;
    return view;
  }

  const Kernel* correct_ = kernels::find_builtin("builtin:scalar_tree");
  Index second_;
};

const std::string kTwoMembers = "2x1:4x6:3 f32 mask=causal:tl lse=ln vals=normal:1";

TEST(Diagnosis, NamesAMistakeThatExplainsEveryRow) {
  const auto found = explain(TwoMistakes(1), law("bound.out"), made(kTwoMembers));
  ASSERT_EQ(names(found), std::vector<std::string>{"causal +1"});
  EXPECT_EQ(found.front().problem, "mask=causal:off=1");
  EXPECT_GT(found.front().rows_wrong, 0);
  EXPECT_GE(found.front().rows, found.front().rows_wrong);
}

TEST(Diagnosis, SaysNothingWhereAMistakeExplainsOnlySomeRows) {
  EXPECT_EQ(names(explain(TwoMistakes(-1), law("bound.out"), made(kTwoMembers))),
            std::vector<std::string>{});
  // Right in the second member, wrong in the first.
  EXPECT_EQ(names(explain(TwoMistakes(0), law("bound.out"), made(kTwoMembers))),
            std::vector<std::string>{});
}

TEST(Diagnosis, SaysNothingOfCorrectKernels) {
  for (const auto& kernel : kernels::builtin_kernels())
    for (const char* const line :
         {"2x4/2:5x9:8/3 f32 mask=causal:br lse=ln vals=normal:1",
          "1x2:3x7:4 f32 mask=causal:tl+win=2:* vals=rising:2", "1x1:4x2:3 f32 mask=causal:br"}) {
      ProblemText text;
      TextError error;
      if (!parse_problem_text(line, text, error)) continue;
      EXPECT_EQ(names(explain(*kernel, law("bound.out"), made(line))), std::vector<std::string>{})
          << kernel->description().name << " " << line;
    }
}

TEST(Diagnosis, NamesAllThatLookTheSame) {
  // Two tiles of one key: without the last one only the first is left, which is the larger side.
  const Kernel& kernel = *mutants::find("mutant:keeps_the_larger_side")->kernel;
  const Case on = made("1x1:1x2:1 f32 scale=1 tile=1 split=2 vals=lit:1;2,0;1,5");
  const auto found = names(explain(kernel, law("bound.out"), on));
  EXPECT_FALSE(found.empty());
  EXPECT_NE(std::find(found.begin(), found.end(), "larger side kept"), found.end());
}

TEST(Diagnosis, IsAFunctionOfItsArguments) {
  const Kernel& kernel = *mutants::find("mutant:skips_last_partial_tile")->kernel;
  const Case on = made("1x2:3x20:4 f32 tile=8 vals=normal:4");
  const auto once = explain(kernel, law("bound.out"), on);
  const auto twice = explain(kernel, law("bound.out"), on);
  ASSERT_EQ(names(once), std::vector<std::string>{"last partial tile skipped"});
  EXPECT_EQ(acts_like(once), acts_like(twice));
}

TEST(ActsLike, IsOneLine) {
  EXPECT_EQ(acts_like({}), "");
  const std::vector<Explanation> one{{"causal +1", "", "mask=causal:off=1", 8, 5}};
  EXPECT_EQ(acts_like(one), "causal +1 (mask=causal:off=1): explains 8 of 8 rows, 5 of them wrong");
  const std::vector<Explanation> three{
      {"A", "", "", 8, 5}, {"B", "", "", 8, 5}, {"C", "", "", 8, 5}};
  EXPECT_EQ(acts_like(three), "A, B or C: explains 8 of 8 rows, 5 of them wrong");
}

TEST(KnownMistakes, HaveNamesOfTheirOwnAndASentence) {
  std::set<std::string_view> seen;
  for (const auto& [name, sentence] : known_mistakes()) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_FALSE(sentence.empty()) << name;
  }
  EXPECT_GT(seen.size(), 90U);
}

TEST(RunRecorder, KeepsRunsOnlyWhileItLives) {
  const Kernel& kernel = *kernels::find_builtin("builtin:textbook");
  const Case on = made("1x1:1x2:1 f32");
  run_kernel(kernel, on);
  {
    const RunRecorder recorder(2);
    for (int i = 0; i < 3; ++i) run_kernel(kernel, on);
    EXPECT_EQ(recorder.forward().size(), 2U);
  }
  const RunRecorder later(2);
  EXPECT_TRUE(later.forward().empty());
}

}  // namespace
}  // namespace attest::properties
