// Mistakes about the lse, softcap, sinks, ALiBi, bias, heads, and about weights that are too
// coarse.
#include <limits>
#include <numbers>
#include <utility>

#include "mutants/own_arithmetic.hpp"
#include "mutants/wrong_call.hpp"

namespace attest::mutants {
namespace {

using kernels::RowContext;

template <class Real>
using Steps = kernels::TiledSteps<Real>;

template <class Real>
struct LseTimesLnTwo : Steps<Real> {
  Real lse(const RowSummary<Real>& summary) const override {
    return attest::lse(summary) * std::numbers::ln2_v<Real>;
  }
};

/// A last tile of one query stores the lse of the row before it.
void lse_of_a_lone_row(const Problem& problem, const Tiling& tiling, const ForwardViews& views) {
  if (problem.lse == LseForm::none) return;
  for_each_row(problem, [&](const RowIndex& row) {
    const Index length = problem.query_length(row.batch);
    if (row.query == 0 || row.query + 1 != length || length % tiling.tile_q != 1 % tiling.tile_q)
      return;
    const RowIndex before{row.batch, row.head, row.query - 1};
    put(views.lse, problem, row, 0, taken(views.lse, problem, before, 0));
  });
}

/// The lse has whole tiles of rows; those that are no rows get +inf.
void lse_of_absent_rows(const Problem& problem, const Tiling&, const ForwardViews& views) {
  if (problem.lse == LseForm::none || problem.layout.order == Layout::Order::thd) return;
  for (Index b = 0; b < problem.batch; ++b)
    for (Index h = 0; h < problem.heads_q; ++h)
      for (Index query = problem.query_length(b); query < problem.seq_q; ++query)
        store_element(views.lse.dtype, address_of(views.lse, b, h, query, 0),
                      std::numeric_limits<double>::infinity());
}

/// tanh(x) as (e^2x - 1) / (e^2x + 1): inf / inf.
void softcap_overflows(const Problem& problem, const Tiling&, const ForwardViews& views) {
  if (problem.softcap == 0) return;
  for_each_row(problem, [&](const RowIndex& row) {
    const StoredRow at = stored_query(problem, row.batch, row.query);
    for (Index key = 0; key < problem.key_length(row.batch); ++key) {
      if (!visible(problem, row.batch, row.query, key)) continue;
      const StoredRow of_key = stored_key(problem, row.batch, key);
      double dot = 0;
      for (Index c = 0; c < problem.head_dim; ++c)
        dot += number_at(views.q, at.b, row.head, at.row, c) *
               number_at(views.k, of_key.b, problem.kv_head(row.head), of_key.row, c);
      const double argument = scale_value(problem) * dot / problem.softcap;
      if (std::isinf(std::exp(static_cast<float>(2 * argument))))
        fill_row(views, problem, row, std::numeric_limits<double>::quiet_NaN());
    }
  });
}

void no_sink(Problem& problem) {
  problem.sink.reset();
}

void sink_of_decode_only(Problem& problem) {
  if (problem.seq_q > 1) no_sink(problem);
}

Status sink_of_the_next_head(const Kernel& correct, const Problem& problem, const Tiling& tiling,
                             const ForwardViews& views) {
  ForwardViews changed = views;
  Tensor moved(problem.compute_dtype(), problem.sink_extents());
  if (problem.sink && !problem.sink->zero) {
    for (Index h = 0; h < problem.heads_q; ++h)
      moved.set(0, h, 0, 0, number_at(views.sink, 0, (h + 1) % problem.heads_q, 0, 0));
    changed.sink = std::as_const(moved).ref();
  }
  return correct.forward(problem, tiling, changed);
}

/// The logit is added to the score of the first key, and the denominator is left alone.
Status sink_as_bias_of_the_first_key(const Kernel& correct, const Problem& problem,
                                     const Tiling& tiling, const ForwardViews& views) {
  if (!problem.sink || problem.sink->zero) return correct.forward(problem, tiling, views);
  Problem changed = problem;
  changed.sink.reset();
  changed.bias = Bias{false, true, false, std::nullopt};
  Tensor bias(changed.bias_dtype(), changed.bias_extents());
  if (problem.seq_kv > 0)
    for (Index h = 0; h < problem.heads_q; ++h)
      bias.set(0, h, 0, 0, number_at(views.sink, 0, h, 0, 0));
  ForwardViews with_bias = views;
  with_bias.sink = {};
  with_bias.bias = std::as_const(bias).ref();
  return correct.forward(changed, tiling, with_bias);
}

/// The sink is added under the maximum of the keys, which it may exceed.
template <class Real>
struct SinkUnderTheMaximumOfKeys : Steps<Real> {
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    if (left.is_identity() || right.is_identity()) return attest::merge(left, right);
    Summary merged = left;
    const Real factor = std::exp(right.row_max - left.row_max);
    merged.row_sum += factor * right.row_sum;
    for (std::size_t c = 0; c < merged.numerator.size(); ++c)
      merged.numerator[c] += factor * right.numerator[c];
    return merged;
  }
};

/// Without keys nobody adds the sink.
void no_sink_without_keys(const Problem& problem, const Tiling&, const ForwardViews& views) {
  if (!problem.sink || !problem.sink->in_lse || problem.lse == LseForm::none) return;
  for_each_row(problem, [&](const RowIndex& row) {
    if (sees_nothing(problem, row))
      put(views.lse, problem, row, 0, -std::numeric_limits<double>::infinity());
  });
}

void alibi_favours_the_far(Problem& problem) {
  if (!problem.alibi) return;
  std::vector<double> slopes;
  for (Index h = 0; h < problem.heads_q; ++h) slopes.push_back(-alibi_slope(problem, h));
  problem.alibi->slopes = std::move(slopes);
}

/// Numbers of the bias are read as if they had the type of q.
Status bias_in_the_type_of_q(const Kernel& correct, const Problem& problem, const Tiling& tiling,
                             const ForwardViews& views) {
  if (!problem.bias || size_of(problem.dtype) >= size_of(problem.bias_dtype()))
    return correct.forward(problem, tiling, views);
  Problem changed = problem;
  changed.bias->dtype = problem.dtype;
  ForwardViews other = views;
  other.bias.dtype = problem.dtype;
  return correct.forward(changed, tiling, other);
}

template <class View>
View head_of(View view, Index h) {
  using Byte = std::conditional_t<std::is_same_v<View, TensorRef>, std::byte, const std::byte>;
  view.data =
      static_cast<Byte*>(view.data) + h * view.strides[1] * static_cast<Index>(size_of(view.dtype));
  view.extents[1] = 1;
  return view;
}

/// The kernel for one query maps heads in another way.
Status decode_maps_heads_modulo(const Kernel& correct, const Problem& problem, const Tiling& tiling,
                                const ForwardViews& views) {
  if (problem.seq_q != 1) return correct.forward(problem, tiling, views);
  Problem one_head = problem;
  one_head.heads_q = one_head.heads_kv = 1;
  for (Index h = 0; h < problem.heads_q; ++h) {
    const Index kv_head = h % problem.heads_kv;
    ForwardViews of_head{head_of(views.q, h),
                         head_of(views.k, kv_head),
                         head_of(views.v, kv_head),
                         head_of(views.out, h),
                         {}};
    if (problem.lse != LseForm::none) of_head.lse = head_of(views.lse, h);
    if (Status status = correct.forward(one_head, tiling, of_head); !status.ok()) return status;
  }
  return {};
}

template <class Real>
struct FlushesSmallWeights : OwnArithmetic<Real> {
  Real exp_of(Real argument) const override { return argument < -20 ? 0 : std::exp(argument); }
};

/// What the first tile has as its maximum stays the maximum.
template <class Real>
struct MaximumOfTheFirstTile : Steps<Real> {
  Real next_row_max(Real row_max, Real tile_max) const override {
    return row_max == RowSummary<Real>::minus_infinity ? tile_max : row_max;
  }
};

/// The sum is cut to eight bits, so that outputs are too large.
template <class Real>
struct DividesByATruncatedSum : Steps<Real> {
  void finalize(const RowSummary<Real>& summary, const RowContext&, const TensorView<const Real>&,
                std::span<Real> output) const override {
    int exponent = 0;
    const Real mantissa = std::frexp(summary.row_sum, &exponent);
    const Real sum = std::ldexp(std::floor(mantissa * 256) / 256, exponent);
    for (std::size_t c = 0; c < output.size(); ++c)
      output[c] = summary.is_identity() ? 0 : summary.numerator[c] / sum;
  }
};

}  // namespace

void append_term_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(tiled_mutant<LseTimesLnTwo>(
      "lse_times_ln_two", "a natural lse is converted from base two once more", "bound.lse"));
  mutants.push_back(tiled_mutant<FlushesSmallWeights>(
      "flushes_small_weights", "weights below e^-20 are set to 0", "bound.out"));
  mutants.push_back(tiled_mutant<MaximumOfTheFirstTile>(
      "maximum_of_the_first_tile", "the maximum of the first tile is kept for the whole row",
      "tiling.kv_splits"));
  mutants.push_back(tiled_mutant<DividesByATruncatedSum>(
      "divides_by_a_truncated_sum", "row_sum is cut to eight bits before the division",
      "symmetry.convex_hull"));
  mutants.push_back(tiled_with<SinkUnderTheMaximumOfKeys>(
      describe_with("sink_under_the_maximum_of_keys",
                    "a sink above all scores is added relative to their maximum", {Feature::sink}),
      "bound.out"));
  const auto call = [&](std::string_view name, std::string_view mistake, WrongForward run,
                        std::string_view law, std::vector<Feature> features = {}) {
    KernelDescription description = describe_with(name, mistake, std::move(features));
    if (description.capabilities.has(Feature::bias))
      description.capabilities.dtypes = {Dtype::f32, Dtype::bf16, Dtype::f16};
    mutants.push_back(wrong_call(std::move(description), run, law));
  };
  call("lse_of_a_lone_row", "a last tile of one query stores the lse of the row before it",
       run_and_spoil<lse_of_a_lone_row>, "bound.lse");
  call("lse_of_absent_rows", "rows beyond the query length get an lse of +inf",
       run_and_spoil<lse_of_absent_rows>, "contract.outputs_written", {Feature::query_lengths});
  call("softcap_overflows", "tanh is a ratio of exponentials, inf / inf for large scores",
       run_and_spoil<softcap_overflows>, "bound.out", {Feature::softcap});
  call("sink_of_the_next_head", "a head has the sink of the head after it", sink_of_the_next_head,
       "bound.out", {Feature::sink});
  call("sink_as_bias_of_the_first_key", "a sink is added to the score of the first key",
       sink_as_bias_of_the_first_key, "terms.sink_is_null_logit", {Feature::sink});
  call("no_sink_without_keys", "a row without keys has no sink in its lse",
       run_and_spoil<no_sink_without_keys>, "bound.lse", {Feature::sink});
  call("bias_in_the_type_of_q", "the numbers of a wider bias are read in the type of q",
       bias_in_the_type_of_q, "bound.out", {Feature::bias});
  call("decode_maps_heads_modulo", "with one query, head h reads key/value head h mod heads_kv",
       decode_maps_heads_modulo, "heads.map");
  const auto changed = [&](std::string_view name, std::string_view mistake,
                           void (*change)(Problem&), std::string_view law, Feature feature) {
    mutants.push_back(changed_problem(describe_with(name, mistake, {feature}), change, law));
  };
  changed("sink_ignored", "the sink is left out", no_sink, "bound.out", Feature::sink);
  changed("sink_of_decode_only", "with more than one query the sink is left out",
          sink_of_decode_only, "bound.out", Feature::sink);
  changed("alibi_favours_the_far", "the slopes of ALiBi have the other sign", alibi_favours_the_far,
          "bound.out", Feature::alibi);
}

}  // namespace attest::mutants
