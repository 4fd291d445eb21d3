// Mistakes about what takes no part or is not there: bias of excluded pairs, empty rows, pages.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "attest/storage.hpp"
#include "mutants/changed_problem.hpp"

namespace attest::mutants {
namespace {

/// A correct kernel, and something else where it gave results.
class SpoilsResults : public ChangesTheProblem {
 public:
  explicit SpoilsResults(KernelDescription description)
      : ChangesTheProblem(std::move(description), [](Problem&) {}) {}

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    Status status = ChangesTheProblem::forward(problem, tiling, views);
    if (status.ok() && problem.head_dim_v > 0)
      with_real_type(problem.dtype, [&](auto real) { spoil(problem, views, real); });
    return status;
  }

 protected:
  virtual void spoil(const Problem& problem, const ForwardViews& views, float real) const = 0;
  virtual void spoil(const Problem& problem, const ForwardViews& views, double real) const = 0;
};

/// A row is NaN if one of its bias numbers is not finite, of excluded keys or of absent ones.
template <bool of_absent_keys>
class ReadsEveryBias : public SpoilsResults {
 public:
  using SpoilsResults::SpoilsResults;

 protected:
  void spoil(const Problem& problem, const ForwardViews& views, float real) const override {
    multiply(problem, views, real);
  }
  void spoil(const Problem& problem, const ForwardViews& views, double real) const override {
    multiply(problem, views, real);
  }

 private:
  /// As if a masked weight of 0 were multiplied by exp(bias).
  template <class Real>
  static void multiply(const Problem& problem, const ForwardViews& views, Real) {
    if (!problem.bias || problem.bias_dtype() != problem.dtype) return;
    const auto bias = views.bias.as<const Real>();
    const auto out = views.out.as<Real>();
    for (Index b = 0; b < problem.batch; ++b)
      for (Index h = 0; h < problem.heads_q; ++h)
        for (Index query = 0; query < problem.query_length(b); ++query) {
          const Index first = of_absent_keys ? problem.key_length(b) : 0;
          const Index end = of_absent_keys ? problem.seq_kv : problem.key_length(b);
          const StoredRow at = stored_query(problem, b, query);
          for (Index key = first; key < end; ++key)
            out(at.b, h, at.row, 0) +=
                Real(0) * bias(problem.bias->per_batch ? b : 0, problem.bias->per_head ? h : 0,
                               problem.bias->per_query ? query : 0, key);
        }
  }
};

/// Maximum and sum of a row without keys are both 0.
class EmptyMaximumOfZero : public SpoilsResults {
 public:
  using SpoilsResults::SpoilsResults;

 protected:
  void spoil(const Problem& problem, const ForwardViews& views, float real) const override {
    zero(problem, views, real);
  }
  void spoil(const Problem& problem, const ForwardViews& views, double real) const override {
    zero(problem, views, real);
  }

 private:
  template <class Real>
  static void zero(const Problem& problem, const ForwardViews& views, Real) {
    if (problem.lse != LseForm::max_sum) return;
    const auto lse = views.lse.as<Real>();
    for (Index b = 0; b < problem.batch; ++b)
      for (Index h = 0; h < problem.heads_q; ++h)
        for (Index query = 0; query < problem.query_length(b); ++query) {
          const StoredRow at = stored_query(problem, b, query);
          Real& maximum = lse(at.b, h, at.row, 0);
          if (std::isinf(maximum)) maximum = 0;
        }
  }
};

class RejectIgnoresSink : public ChangesTheProblem {
 public:
  explicit RejectIgnoresSink(KernelDescription description)
      : ChangesTheProblem(std::move(description), [](Problem&) {}) {}

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (problem.all_masked == AllMaskedPolicy::reject && problem.sink)
      for (Index b = 0; b < problem.batch; ++b)
        for (Index query = 0; query < problem.query_length(b); ++query)
          if (problem.heads_q > 0 &&
              classify(problem, b, query, query + 1, 0, problem.seq_kv) == TileClass::empty)
            return all_masked_row({b, 0, query});
    return ChangesTheProblem::forward(problem, tiling, views);
  }
};

class RejectsEveryCall : public ChangesTheProblem {
 public:
  explicit RejectsEveryCall(KernelDescription description)
      : ChangesTheProblem(std::move(description), [](Problem&) {}) {}

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (problem.all_masked == AllMaskedPolicy::reject) return all_masked_row({0, 0, 0});
    return ChangesTheProblem::forward(problem, tiling, views);
  }
};

/// The columns of v begin where those of a dense k would.
class ViewOfDenseRows : public ChangesTheProblem {
 public:
  explicit ViewOfDenseRows(KernelDescription description)
      : ChangesTheProblem(std::move(description), [](Problem&) {}) {}

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    ForwardViews changed = views;
    if (problem.v_is_k_view) changed.v.strides = bshd_strides(views.k.extents);
    return ChangesTheProblem::forward(problem, tiling, changed);
  }
};

/// A page that an earlier member has is taken for the next one.
void pages_of_one_member_each(Problem& problem) {
  std::set<Index> taken;
  for (std::vector<Index>& table : problem.kv.page_table)
    for (Index& page : table)
      if (!taken.insert(page).second) page = (page + 1) % problem.kv.pages;
}

/// Keys are taken to end where the table ends.
void last_pages_of_the_table(Problem& problem) {
  for (Index b = 0; b < static_cast<Index>(problem.kv.page_table.size()); ++b) {
    std::vector<Index>& table = problem.kv.page_table[static_cast<std::size_t>(b)];
    const Index needed = (problem.key_length(b) + problem.kv.page_size - 1) / problem.kv.page_size;
    table.erase(table.begin(), table.end() - needed);
  }
}

template <class Wrong>
Mutant absent_mutant(std::string_view name, std::string_view mistake, Feature feature,
                     std::string_view killed_by) {
  return {std::make_unique<Wrong>(describe_with(name, mistake, {feature})), killed_by};
}

}  // namespace

void append_absent_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(absent_mutant<ReadsEveryBias<false>>(
      "bias_of_excluded_keys", "the bias of an excluded key is multiplied by a weight of 0",
      Feature::bias, "mask.excluded_keys"));
  mutants.push_back(absent_mutant<ReadsEveryBias<true>>(
      "bias_of_absent_keys", "the bias beyond the keys of a member is multiplied by 0",
      Feature::bias, "storage.unused_slots"));
  mutants.push_back(absent_mutant<RejectIgnoresSink>(
      "reject_ignores_sink", "policy reject refuses a row that has nothing but a sink",
      Feature::sink, "empty.reject"));
  mutants.push_back(absent_mutant<RejectsEveryCall>("rejects_every_call",
                                                    "policy reject refuses rows that see a key",
                                                    Feature::softcap, "bound.out"));
  mutants.push_back(absent_mutant<EmptyMaximumOfZero>(
      "empty_maximum_of_zero", "the maximum of a row without keys is 0, not -inf",
      Feature::lse_max_sum, "empty.forward"));
  mutants.push_back({std::make_unique<ViewOfDenseRows>(describe_with(
                         "view_of_dense_rows", "v as a view of k is read as if k were dense",
                         {Feature::v_is_k_view})),
                     "storage.layouts"});
  mutants.push_back(changed_problem(
      describe_with("pages_of_one_member_each", "a page that two members share is another one",
                    {Feature::paged}),
      pages_of_one_member_each, "storage.paged"));
  mutants.push_back(changed_problem(
      describe_with("last_pages_of_the_table",
                    "of a page table that is longer than needed the last pages are read",
                    {Feature::paged}),
      last_pages_of_the_table, "storage.paged"));
}

}  // namespace attest::mutants
