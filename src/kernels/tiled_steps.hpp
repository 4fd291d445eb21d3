// The steps of a tiled online-softmax forward pass, and the loop over them.
//
// The class holds every decision of the algorithm as one virtual function each, so that a variant
// (or a mutant, a kernel that is wrong on purpose) is this pass with one step replaced.
// Method: FlashAttention-2 (Dao 2023), one row of queries at a time, unnormalised numerators.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "attest/kernel.hpp"
#include "kernels/backward.hpp"
#include "kernels/input_rows.hpp"
#include "kernels/result_rows.hpp"
#include "kernels/row_access.hpp"
#include "kernels/score_terms.hpp"

namespace attest::kernels {

/// One output row of the problem.
struct RowContext {
  const Problem& problem;
  const Tiling& tiling;
  Index b = 0;
  Index h = 0;
  Index query = 0;

  RowIndex index() const { return {b, h, query}; }
};

/// Visible keys of one tile: scores and the rows of v, in key order.
template <class Real>
struct ScoredTile {
  std::vector<Real> scores;
  std::vector<std::span<const Real>> values;

  void clear() {
    scores.clear();
    values.clear();
  }
};

template <class Real>
class TiledSteps : public SummaryOps<Real> {
 public:
  using Summary = RowSummary<Real>;

  virtual Real score(std::span<const Real> q, std::span<const Real> k, Real scale) const {
    return scaled_dot(q, k, scale);
  }
  /// Score under which a key that is not visible takes part; none: it is excluded.
  virtual std::optional<Real> score_of_excluded(const RowContext&, Index /*key*/) const {
    return std::nullopt;
  }
  virtual bool sees(const RowContext& row, Index key) const {
    return visible(row.problem, row.b, row.query, key);
  }
  /// Whether a whole tile may be skipped without looking at its keys.
  virtual bool skips(const RowContext& row, KeyRange tile) const {
    return classify(row.problem, row.b, row.query, row.query + 1, tile.begin, tile.end) ==
           TileClass::empty;
  }
  virtual std::vector<KeyRange> tiles(const RowContext& row, KeyRange unit) const {
    return tile_ranges(unit, row.tiling.tile_kv);
  }
  virtual Real next_row_max(Real row_max, Real tile_max) const {
    return row_max < tile_max ? tile_max : row_max;
  }
  virtual void raise_row_max(Summary& summary, Real row_max) const {
    attest::raise_row_max(summary, row_max);
  }
  virtual Real weight(Real score, Real row_max) const { return std::exp(score - row_max); }
  virtual void add_weighted(Summary& summary, Real weight, std::span<const Real> value) const {
    attest::add_weighted(summary, weight, value);
  }
  /// Called for every tile, also for one without visible keys.
  virtual void absorb_tile(Summary& summary, const ScoredTile<Real>& tile) const {
    if (tile.scores.empty()) return;
    Real tile_max = tile.scores.front();
    for (const Real score : tile.scores)
      if (!(score <= tile_max)) tile_max = score;
    raise_row_max(summary, next_row_max(summary.row_max, tile_max));
    for (std::size_t j = 0; j < tile.scores.size(); ++j)
      add_weighted(summary, weight(tile.scores[j], summary.row_max), tile.values[j]);
  }
  virtual Real lse(const Summary& summary) const { return attest::lse(summary); }
  /// `v` as it is stored, without data where that is not as Real.
  virtual void finalize(const Summary& summary, const RowContext&,
                        const TensorView<const Real>& /*v*/, std::span<Real> output) const {
    attest::finalize(summary, output);
  }
  /// How often the sink of a row of `units` summaries counts.
  virtual Index times_of_sink(std::size_t /*units*/) const { return 1; }
  /// Whether the row is written at all.
  virtual bool writes(const Summary&) const { return true; }

  void absorb(Summary& summary, Real score, std::span<const Real> value) const override {
    if (score == Summary::minus_infinity) return;
    absorb_tile(summary, {{score}, {value}});
  }
  NormalisedRow<Real> normalise(const Summary& summary) const override {
    NormalisedRow<Real> row{lse(summary), std::vector<Real>(summary.numerator.size())};
    attest::finalize(summary, std::span<Real>(row.output));
    return row;
  }
};

/// Computes rows of one problem with the given steps.
template <class Real>
class TiledForward {
 public:
  TiledForward(const TiledSteps<Real>& steps, SummaryScope scope, const Problem& problem,
               const Tiling& tiling, const ForwardViews& views)
      : steps_(steps),
        problem_(problem),
        tiling_(tiling),
        inputs_(problem, {views.q, views.k, views.v, views.qv}),
        terms_(problem, views.bias),
        results_(problem, views),
        sinks_(sink_logits<Real>(problem, views.sink)),
        scale_(static_cast<Real>(scale_value(problem))),
        units_(scope == SummaryScope::tile ? all_tiles(tiling, problem.seq_kv)
                                           : split_ranges(tiling, problem.seq_kv)) {
    if (views.v.dtype == dtype_of<Real>()) v_ = views.v.as<const Real>();
  }

  Status run() {
    const Result<MergeTree> tree =
        make_merge_tree(tiling_.merge, static_cast<Index>(units_.size()));
    if (!tree.ok()) return tree.status();
    if (Status status = reject_all_masked(problem_); !status.ok()) return status;
    for_each_row(problem_, [&](const RowIndex& row) {
      write({problem_, tiling_, row.batch, row.head, row.query}, tree.value());
    });
    return {};
  }

 private:
  void write(const RowContext& row, const MergeTree& tree) {
    const std::span<const Real> q = inputs_.query(row.index(), q_buffer_);
    const RowSummary<Real> of_keys = evaluate(
        tree, [&](Index unit) { return summarise(row, q, units_[static_cast<std::size_t>(unit)]); },
        [&](const RowSummary<Real>& left, const RowSummary<Real>& right) {
          return steps_.merge(left, right);
        });
    if (sinks_.empty()) return write(row, of_keys, of_keys);
    // The sink is merged last: counted once, whatever the units are.
    const Real logit = sinks_[static_cast<std::size_t>(row.h)];
    RowSummary<Real> whole = of_keys;
    for (Index times = steps_.times_of_sink(units_.size()); times > 0; --times)
      whole = steps_.merge(whole, sink_summary(logit, problem_.head_dim_v));
    write(row, whole, problem_.sink->in_lse ? whole : of_keys);
  }

  void write(const RowContext& row, const RowSummary<Real>& whole, const RowSummary<Real>& in_lse) {
    if (!steps_.writes(whole)) return;
    output_.resize(static_cast<std::size_t>(problem_.head_dim_v));
    steps_.finalize(whole, row, v_, output_);
    results_.write_output(row.index(), output_);
    if (problem_.lse != LseForm::none) results_.write_lse(row.index(), in_lse, steps_.lse(in_lse));
  }

  RowSummary<Real> summarise(const RowContext& row, std::span<const Real> q, KeyRange unit) {
    RowSummary<Real> summary = steps_.identity(problem_.head_dim_v);
    for (const KeyRange range : steps_.tiles(row, unit)) {
      tile_.clear();
      if (!steps_.skips(row, range)) score_tile(row, q, range);
      steps_.absorb_tile(summary, tile_);
    }
    return summary;
  }

  void score_tile(const RowContext& row, std::span<const Real> q, KeyRange range) {
    v_buffers_.resize(static_cast<std::size_t>(range.end - range.begin));
    const Index kv_head = problem_.kv_head(row.h);
    for (Index key = range.begin; key < range.end; ++key) {
      const std::optional<Real> score =
          steps_.sees(row, key) ? score_of(row, q, key) : steps_.score_of_excluded(row, key);
      if (!score || *score == RowSummary<Real>::minus_infinity) continue;
      tile_.scores.push_back(*score);
      tile_.values.push_back(inputs_.value(
          row.b, kv_head, key, v_buffers_[static_cast<std::size_t>(key - range.begin)]));
    }
  }

  Real score_of(const RowContext& row, std::span<const Real> q, Index key) {
    const std::span<const Real> k = inputs_.key(row.b, problem_.kv_head(row.h), key, k_buffer_);
    return terms_.score(row.index(), key, steps_.score(q, k, scale_));
  }

  const TiledSteps<Real>& steps_;
  const Problem& problem_;
  const Tiling& tiling_;
  InputRows<Real> inputs_;
  ScoreTerms<Real> terms_;
  ResultRows<Real> results_;
  std::vector<Real> sinks_;
  TensorView<const Real> v_;
  Real scale_;
  std::vector<KeyRange> units_;
  std::vector<Real> q_buffer_, k_buffer_, output_;
  std::vector<std::vector<Real>> v_buffers_;
  ScoredTile<Real> tile_;
};

/// A tiled kernel for f32 and f64 made of two sets of steps.
template <template <class> class Steps>
class TiledKernel : public Kernel {
 public:
  TiledKernel(KernelDescription description, SummaryScope scope)
      : description_(std::move(description)), scope_(scope) {}

  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return scalar_accuracy(problem, scope_);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    if (problem.compute_dtype() == Dtype::f32)
      return TiledForward<float>(steps_f32_, scope_, problem, tiling, views).run();
    return TiledForward<double>(steps_f64_, scope_, problem, tiling, views).run();
  }
  DeclaredGradientAccuracy gradient_accuracy(const Problem& problem) const override {
    return scalar_gradient_accuracy(problem);
  }
  Status backward(const Problem& problem, const Tiling& tiling,
                  const BackwardViews& views) const override {
    if (Status status = check_backward(description_.capabilities, problem, tiling, views);
        !status.ok())
      return status;
    tiled_backward(problem, tiling, views);
    return {};
  }
  const SummaryOps<float>* summary_ops_f32() const override { return &steps_f32_; }
  const SummaryOps<double>* summary_ops_f64() const override { return &steps_f64_; }

 private:
  KernelDescription description_;
  SummaryScope scope_;
  Steps<float> steps_f32_;
  Steps<double> steps_f64_;
};

}  // namespace attest::kernels
