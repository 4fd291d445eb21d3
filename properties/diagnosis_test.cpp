// What diagnosis says of kernels whose mistake is known, and when it says nothing.
#include "properties/diagnosis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/diagnosis_experiments.hpp"
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
    if (!problem.mask.causal) return correct_->forward(problem, tiling, views);
    for (Index b = 0; b < problem.batch; ++b) {
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

/// Sees every key where `forgets` says so, and refuses what `accepts` does not.
class ForgetsTheDiagonal : public Kernel {
 public:
  using Says = bool (*)(const Problem&);
  explicit ForgetsTheDiagonal(Says forgets, Says accepts) : forgets_(forgets), accepts_(accepts) {}
  const KernelDescription& description() const override { return correct_->description(); }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return correct_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (!accepts_(problem)) return {StatusCode::unsupported, "no results of this problem"};
    Problem changed = problem;
    if (forgets_(problem)) changed.mask.causal.reset();
    return correct_->forward(changed, tiling, views);
  }

 private:
  const Kernel* correct_ = kernels::find_builtin("builtin:scalar_tree");
  Says forgets_;
  Says accepts_;
};

bool always(const Problem&) {
  return true;
}
/// The problem of kOneDiagonal alone.
bool is_stored(const Problem& problem) {
  return problem == made("1x2:4x6:3 f32 mask=causal:tl").problem;
}
const std::string kOneDiagonal = "1x2:4x6:3 f32 mask=causal:tl vals=normal:1";

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
          "1x2:3x7:4 f32 mask=causal:tl win=2:* vals=ascending:2", "1x1:4x2:3 f32 mask=causal:br"})
      EXPECT_EQ(names(explain(*kernel, law("bound.out"), made(line))), std::vector<std::string>{})
          << kernel->description().name << " " << line;
}

TEST(Diagnosis, ExperimentsTellWhatTheCaseLeavesOpen) {
  // Two tiles of one key: without the last one only the first is left, which is the larger side.
  const Kernel& kernel = *mutants::find("mutant:keeps_the_larger_side")->kernel;
  const Case on = made("1x1:1x2:1 f32 scale=1 tile=1 split=2 vals=lit:1;2,0;1,5");
  EXPECT_EQ(names(explain(kernel, law("bound.out"), on)),
            std::vector<std::string>{"larger side kept"});
}

TEST(Diagnosis, SaysNothingOfAMistakeThatHoldsForSomeShapesOnly) {
  const Case on = made(kOneDiagonal);
  const ForgetsTheDiagonal everywhere(always, always);
  EXPECT_EQ(names(explain(everywhere, law("bound.out"), on)),
            std::vector<std::string>{"mask ignored"});
  const ForgetsTheDiagonal sometimes([](const Problem& p) { return p.seq_kv >= 6; }, always);
  EXPECT_EQ(names(explain(sometimes, law("bound.out"), on)), std::vector<std::string>{});
}

TEST(Diagnosis, JudgesStoredResultsByTheCaseAlone) {
  const ForgetsTheDiagonal stored(always, is_stored);
  EXPECT_EQ(names(explain(stored, law("bound.out"), made(kOneDiagonal))),
            std::vector<std::string>{"mask ignored"});
}

TEST(Experiments, AreOfTheKindOfTheCaseInOtherShapes) {
  for (const char* const line :
       {"1x2:4x6:3 f32 mask=causal:off=1 win=2:* vals=normal:1", "2x2:3x{5,2}:4 f32 lse=ln",
        "2x4/2:5x9:8/3 f64 mask=bits:110010111 sink=head", "1x1:1x40:32 bf16 cap=5 alibi=rel:br"}) {
    const Case like = made(line);
    const Case* const likes[] = {&like};
    const auto drawn = experiments(likes, 32);
    EXPECT_EQ(drawn.size(), 32U) << line;
    std::set<Index> keys;
    bool any_nan = false;
    for (const Case& on : drawn) {
      EXPECT_TRUE(validate(on.problem).ok() && validate(on.tiling, on.problem.seq_kv).ok());
      EXPECT_EQ(features_of(on.problem), features_of(like.problem)) << line;
      EXPECT_EQ(on.problem.dtype, like.problem.dtype);
      EXPECT_EQ(on.problem.mask.none(), like.problem.mask.none());
      EXPECT_EQ(on.problem.key_lengths.empty(), like.problem.key_lengths.empty());
      EXPECT_EQ(on.q.extents(), on.problem.q_extents());
      EXPECT_EQ(on.v.extents(), on.problem.v_extents());
      keys.insert(on.problem.seq_kv);
      for_each_index(on.v.extents(), [&](Index b, Index h, Index key, Index c) {
        any_nan = any_nan || std::isnan(on.v.get(b, h, key, c));
      });
    }
    EXPECT_GE(keys.size(), 8U) << line;
    EXPECT_TRUE(any_nan) << line;
    const auto again = experiments(likes, 32);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      EXPECT_EQ(again[i].problem, drawn[i].problem);
      EXPECT_EQ(again[i].tiling, drawn[i].tiling);
    }
  }
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
  const std::vector<Explanation> bits{{"A", "", "mask=bits:" + std::string(64, '1'), 8, 5}};
  EXPECT_EQ(acts_like(bits), "A: explains 8 of 8 rows, 5 of them wrong");
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
