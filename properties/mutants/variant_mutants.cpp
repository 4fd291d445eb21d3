// Mistakes about windows, diagonals, terms of the score, and storage.
#include <cmath>
#include <utility>
#include <vector>

#include "attest/storage.hpp"
#include "kernels/kernels.hpp"
#include "mutants/changed_problem.hpp"
#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {
namespace {

using kernels::RowContext;

template <class Real>
struct LooksAtEveryTile : kernels::TiledSteps<Real> {
  bool skips(const RowContext&, KeyRange) const override { return false; }
};

template <class Real>
struct WindowLeftExclusive : kernels::TiledSteps<Real> {
  bool sees(const RowContext& row, Index key) const override {
    const auto& left = row.problem.mask.window.left;
    const bool on_the_edge = left && row.query + mask_offset(row.problem, row.b) - key == *left;
    return !on_the_edge && kernels::TiledSteps<Real>::sees(row, key);
  }
};

template <class Real>
struct WindowFromTopLeft : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    Problem top_left = row.problem;
    if (top_left.mask.alignment) top_left.mask.alignment = Causal{};
    return visible(top_left, row.b, row.query, key);
  }
};

template <class Real>
struct CapsTheMaskConstant : LooksAtEveryTile<Real> {
  std::optional<Real> score_of_excluded(const RowContext& row, Index) const override {
    if (row.problem.softcap == 0) return std::nullopt;
    const auto cap = static_cast<Real>(row.problem.softcap);
    return cap * std::tanh(Real(-1e9) / cap);
  }
};

template <template <class> class Steps>
Mutant with_features(KernelDescription description, std::string_view killed_by) {
  return {
      std::make_unique<kernels::TiledKernel<Steps>>(std::move(description), SummaryScope::split),
      killed_by};
}

void relative_as_column(Problem& problem) {
  if (problem.alibi && problem.alibi->form == Alibi::Form::relative)
    problem.alibi->form = Alibi::Form::column;
}

void every_sink_zero(Problem& problem) {
  if (problem.sink) problem.sink->zero = true;
}

void padding_on_the_right(Problem& problem) {
  if (problem.kv.kind == KvStorage::Kind::left_padded) problem.kv = {};
}

/// Multiplies the last slot of the last page of every member by 0 and adds it.
class ReadsWholePages : public ChangesTheProblem {
 public:
  explicit ReadsWholePages(KernelDescription description)
      : ChangesTheProblem(std::move(description), [](Problem&) {}) {}

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    Status status = ChangesTheProblem::forward(problem, tiling, views);
    if (!status.ok() || problem.kv.kind != KvStorage::Kind::paged) return status;
    with_real_type(problem.dtype, [&](auto real) {
      using Real = decltype(real);
      const auto v = views.v.as<const Real>();
      const auto out = views.out.as<Real>();
      for (Index b = 0; b < problem.batch; ++b) {
        const auto& table = problem.kv.page_table[static_cast<std::size_t>(b)];
        if (table.empty() || problem.query_length(b) == 0) continue;
        const StoredRow row = stored_query(problem, b, 0);
        out(row.b, 0, row.row, 0) += Real(0) * v(table.back(), 0, problem.kv.page_size - 1, 0);
      }
    });
    return status;
  }
};

}  // namespace

void append_variant_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(with_features<WindowLeftExclusive>(
      describe_with("window_left_exclusive", "the left limit of a window counts the query itself",
                    {Feature::window, Feature::keep_first}),
      "mask.window_edges"));
  mutants.push_back(with_features<WindowFromTopLeft>(
      describe_with("window_from_top_left", "windows start at the top left corner",
                    {Feature::window, Feature::chunk}),
      "mask.alignment"));
  mutants.push_back(with_features<CapsTheMaskConstant>(
      describe_with("caps_the_mask_constant",
                    "excluded keys get a large negative score before the softcap",
                    {Feature::softcap}),
      "mask.softcap_excluded"));
  mutants.push_back(changed_problem(
      describe_with("relative_alibi_as_column", "ALiBi adds slope j and leaves the rest to softmax",
                    {Feature::alibi}),
      relative_as_column, "terms.alibi_forms"));
  mutants.push_back(
      changed_problem(describe_with("every_sink_zero", "the logits of the sink are taken as 0",
                                    {Feature::sink, Feature::bias}),
                      every_sink_zero, "terms.sink_is_null_logit"));
  mutants.push_back(changed_problem(
      describe_with("pages_in_order", "pages are read in the order of memory, not of the table",
                    {Feature::paged}),
      pages_in_order, "storage.paged"));
  mutants.push_back(changed_problem(
      describe_with("padding_on_the_right", "left padding is read as keys, and keys as padding",
                    {Feature::left_padding}),
      padding_on_the_right, "storage.left_padding"));
  mutants.push_back(
      {std::make_unique<ReadsWholePages>(describe_with(
           "reads_whole_pages", "slots that hold no key are multiplied by 0", {Feature::paged})),
       "storage.unused_slots"});
}

}  // namespace attest::mutants
