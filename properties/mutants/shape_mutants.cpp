// Mistakes that small shapes do not show.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "attest/element.hpp"
#include "mutants/changed_problem.hpp"

namespace attest::mutants {
namespace {

/// Rows of the second tile of eight queries give what the first tile gave.
class SecondQueryTile : public ChangesTheProblem {
 public:
  explicit SecondQueryTile(KernelDescription description)
      : ChangesTheProblem(std::move(description), [](Problem&) {}) {}

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    Status status = ChangesTheProblem::forward(problem, tiling, views);
    if (!status.ok()) return status;
    constexpr Index kTile = 8;
    with_real_type(problem.dtype, [&](auto real) {
      const auto out = views.out.as<decltype(real)>();
      for (Index b = 0; b < problem.batch; ++b)
        for (Index h = 0; h < problem.heads_q; ++h)
          for (Index query = kTile; query < std::min(2 * kTile, problem.seq_q); ++query)
            for (Index c = 0; c < problem.head_dim_v; ++c)
              out(b, h, query, c) = out(b, h, query - kTile, c);
    });
    return status;
  }
};

/// The dot product of 32 and more columns loses its last one.
class LosesAColumn : public ChangesTheProblem {
 public:
  explicit LosesAColumn(KernelDescription description)
      : ChangesTheProblem(std::move(description), [](Problem&) {}) {}

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    constexpr Index kColumns = 32;
    if (problem.head_dim < kColumns) return ChangesTheProblem::forward(problem, tiling, views);
    Problem narrower = problem;
    narrower.scale = {false, scale_value(problem)};
    --narrower.head_dim;
    ForwardViews changed = views;
    --changed.q.extents[3];
    --changed.k.extents[3];
    return ChangesTheProblem::forward(narrower, tiling, changed);
  }
};

/// Heads of groups of three and more read the key/value head of groups of two.
class GroupsOfTwo : public ChangesTheProblem {
 public:
  explicit GroupsOfTwo(KernelDescription description)
      : ChangesTheProblem(std::move(description), [](Problem&) {}) {}

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    const Index group = problem.heads_kv == 0 ? 0 : problem.heads_q / problem.heads_kv;
    if (group < 3) return ChangesTheProblem::forward(problem, tiling, views);
    Problem one_head = problem;
    one_head.heads_q = one_head.heads_kv = 1;
    for (Index h = 0; h < problem.heads_q; ++h) {
      const Index kv_head = std::min(h / 2, problem.heads_kv - 1);
      ForwardViews of_head{at_head(views.q, h),
                           at_head(views.k, kv_head),
                           at_head(views.v, kv_head),
                           at_head(views.out, h),
                           {}};
      if (problem.lse != LseForm::none) of_head.lse = at_head(views.lse, h);
      if (Status status = ChangesTheProblem::forward(one_head, tiling, of_head); !status.ok())
        return status;
    }
    return {};
  }

 private:
  template <class View>
  static View at_head(View view, Index head) {
    using Byte = std::conditional_t<std::is_same_v<View, TensorRef>, std::byte, const std::byte>;
    view.data = static_cast<Byte*>(view.data) +
                head * view.strides[1] * static_cast<Index>(size_of(view.dtype));
    view.extents[1] = 1;
    return view;
  }
};

/// 2^(-8 (h + 1) / H), whether H is a power of two or not.
void alibi_of_one_sequence(Problem& problem) {
  if (!problem.alibi || !problem.alibi->slopes.empty()) return;
  for (Index h = 0; h < problem.heads_q; ++h)
    problem.alibi->slopes.push_back(rounded_to(
        Dtype::f32,
        std::exp2(-8 * static_cast<double>(h + 1) / static_cast<double>(problem.heads_q))));
}

template <class Wrong>
Mutant shape_mutant(std::string_view name, std::string_view mistake, std::string_view killed_by) {
  return {std::make_unique<Wrong>(describe(name, mistake)), killed_by};
}

}  // namespace

void append_shape_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(shape_mutant<SecondQueryTile>(
      "second_query_tile", "queries 8 to 15 give what queries 0 to 7 gave", "bound.out"));
  mutants.push_back(shape_mutant<LosesAColumn>(
      "loses_a_column", "dot products of 32 columns and more lose the last one", "bound.out"));
  mutants.push_back(shape_mutant<GroupsOfTwo>(
      "groups_of_two", "three and more heads of a group are taken for groups of two", "bound.out"));
  mutants.push_back(changed_problem(
      describe_with("alibi_of_one_sequence",
                    "ALiBi slopes are one sequence, also for heads that are no power of two",
                    {Feature::alibi}),
      alibi_of_one_sequence, "terms.alibi_forms"));
}

}  // namespace attest::mutants
