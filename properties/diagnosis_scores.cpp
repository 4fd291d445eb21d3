// Mistakes in what is done to a score: scale, softcap, bias, ALiBi, additive mask, sink.
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "attest/element.hpp"
#include "properties/diagnosis_alternatives.hpp"

namespace attest::properties {
namespace {

bool with_scale(Case& of, double scale) {
  const double before = scale_value(of.problem);
  of.problem.scale = {false, rounded_to(of.problem.compute_dtype(), scale)};
  return scale_value(of.problem) != before;
}
bool no_scale(Case& of, Index) {
  return with_scale(of, 1);
}
bool scale_twice(Case& of, Index) {
  return with_scale(of, scale_value(of.problem) * scale_value(of.problem));
}
bool scale_of_head_dim_v(Case& of, Index) {
  const bool usual = of.problem.scale.reciprocal_sqrt && of.problem.head_dim_v > 0;
  return usual && with_scale(of, 1 / std::sqrt(static_cast<double>(of.problem.head_dim_v)));
}
bool scale_of_head_dim_alone(Case& of, Index) {
  const bool usual = of.problem.scale.reciprocal_sqrt && of.problem.qv;
  return usual && with_scale(of, 1 / std::sqrt(static_cast<double>(of.problem.head_dim)));
}
bool scale_without_root(Case& of, Index) {
  const bool usual = of.problem.scale.reciprocal_sqrt && !of.problem.qv;
  return usual && with_scale(of, 1 / static_cast<double>(of.problem.head_dim));
}
bool scale_negative(Case& of, Index) {
  return with_scale(of, -scale_value(of.problem));
}
bool base_two_weights(Case& of, Index) {
  return with_scale(of, scale_value(of.problem) * std::numbers::ln2);
}
bool natural_exp_of_folded(Case& of, Index) {
  return with_scale(of, scale_value(of.problem) * std::numbers::log2e);
}

/// The dot product without its last column; the scale stays.
bool last_column_lost(Case& of, Index) {
  Problem& problem = of.problem;
  if (problem.head_dim < 2 || problem.v_is_k_view) return false;
  with_scale(of, scale_value(problem));
  --problem.head_dim;
  const auto cut = [](const Tensor& from, const Extents& extents) {
    return filled(from.dtype(), extents,
                  [&](Index b, Index h, Index row, Index c) { return from.get(b, h, row, c); });
  };
  of.q = cut(of.q, problem.q_extents());
  of.k = cut(of.k, problem.k_extents());
  return true;
}

bool no_softcap(Case& of, Index) {
  return std::exchange(of.problem.softcap, 0) != 0;
}
bool adds(const Problem& problem) {
  return problem.bias || problem.alibi || problem.mask.additive;
}
bool softcap_first(Case& of, Index) {
  if (of.problem.softcap == 0 || !adds(of.problem) || of.problem.order == ScoreOrder{})
    return false;
  of.problem.order = {};
  return true;
}
bool softcap_last(Case& of, Index) {
  const Problem& problem = of.problem;
  if (problem.softcap == 0 || !adds(problem)) return false;
  const ScoreOrder last{problem.bias.has_value(), problem.alibi.has_value(),
                        problem.mask.additive.has_value()};
  return std::exchange(of.problem.order, last) != last;
}

bool no_bias(Case& of, Index) {
  if (!of.problem.bias) return false;
  of.problem.bias.reset();
  of.problem.order.bias_before_softcap = false;
  of.bias = {};
  return true;
}
bool finite_mask_ignored(Case& of, Index) {
  auto& additive = of.problem.mask.additive;
  if (!additive) return false;
  bool any = false;
  for (double& number : additive->value)
    if (std::isfinite(number)) any = std::exchange(number, 0) != 0 || any;
  return any;
}

bool no_sink(Case& of, Index) {
  const bool had = of.problem.sink.has_value();
  of.problem.sink.reset();
  of.sink = {};
  return had;
}
bool sink_zero(Case& of, Index) {
  auto& sink = of.problem.sink;
  if (!sink || sink->zero) return false;
  sink->zero = true;
  of.sink = {};
  return true;
}
bool sink_leaves_lse(Case& of, Index) {
  auto& sink = of.problem.sink;
  return sink && std::exchange(sink->in_lse, false);
}
bool sink_enters_lse(Case& of, Index) {
  auto& sink = of.problem.sink;
  return sink && !std::exchange(sink->in_lse, true);
}
/// exp(sink) once a kv split is the sink plus the logarithm of their number.
bool sink_in_every_split(Case& of, Index) {
  auto& sink = of.problem.sink;
  const auto splits = split_ranges(of.tiling, of.problem.seq_kv).size();
  if (!sink || splits < 2) return false;
  Tensor logits(Dtype::f64, {1, of.problem.heads_q, 1, 1});
  for (Index h = 0; h < of.problem.heads_q; ++h)
    logits.set(0, h, 0, 0,
               (sink->zero ? 0 : of.sink.get(0, h, 0, 0)) + std::log(static_cast<double>(splits)));
  of.sink = std::move(logits);
  sink->zero = false;
  return true;
}

/// A row that sees no key has the sink as its lse, exactly; here it is a sum that was rounded.
Fit sinks_of_splits() {
  const Fit solved = solves_instead(sink_in_every_split);
  return [solved](const DiagnosedRun& run) -> Predictor {
    const Predictor other = solved(run);
    if (!other) return nullptr;
    const double unit = run.accuracy().format.unit_roundoff;
    const auto splits =
        static_cast<double>(split_ranges(run.tiling(), run.problem().seq_kv).size());
    return [other, unit, splits](const RowIndex& row) {
      std::optional<RowPrediction> prediction = other(row);
      if (prediction && prediction->lse)
        prediction->lse->bound += (splits + 2) * unit * (1 + std::abs(prediction->lse->value.high));
      return prediction;
    };
  };
}

bool descales_of_first_head(Case& of, Index) {
  auto& descales = of.problem.descales;
  if (!descales) return false;
  bool differs = false;
  for (std::vector<double>* const factors : {&descales->q, &descales->k, &descales->v})
    for (double& factor : *factors)
      differs = std::exchange(factor, factors->front()) != factors->front() || differs;
  return differs;
}
bool no_descales(Case& of, Index) {
  auto& descales = of.problem.descales;
  if (!descales) return false;
  const bool differs = *descales != Descales{};
  *descales = {};
  return differs;
}
bool no_qv(Case& of, Index) {
  if (!of.problem.qv) return false;
  const double scale = scale_value(of.problem);
  of.problem.qv = false;
  of.qv = {};
  with_scale(of, scale);
  return true;
}

void append_scales(Alternatives& to) {
  to.push_back(other_problem("no scale", "scores are not multiplied by the scale", {no_scale}));
  to.push_back(other_problem("scale applied twice", "scores are multiplied by the scale twice",
                             {scale_twice}));
  to.push_back(other_problem("scale of the other head_dim",
                             "the scale is taken from another number of columns",
                             {scale_of_head_dim_v, scale_of_head_dim_alone}));
  to.push_back(
      other_problem("scale without the root", "the scale is 1 / head_dim", {scale_without_root}));
  to.push_back(other_problem("negative scale", "scores have the other sign", {scale_negative}));
  // Where the lse is made of the same maximum and sum in another way, only the output tells.
  to.push_back({"weights are powers of two",
                "weights are 2^(score - maximum) instead of e^(score - maximum)",
                {{solves_instead(base_two_weights), base_two_weights},
                 {solves_instead_without_lse(base_two_weights), base_two_weights}}});
  to.push_back({"natural exp of a scale for exp2",
                "scores hold the factor log2(e), and exp is taken of them",
                {{solves_instead(natural_exp_of_folded), natural_exp_of_folded},
                 {solves_instead_without_lse(natural_exp_of_folded), natural_exp_of_folded}}});
  to.push_back(other_problem("last column of q and k lost",
                             "the dot product leaves out the last column", {last_column_lost}));
}

void append_terms(Alternatives& to) {
  to.push_back(other_problem("softcap forgotten", "scores are not capped", {no_softcap}));
  to.push_back(other_problem("softcap before additions",
                             "what should be added before the softcap is added after it",
                             {softcap_first}));
  to.push_back(other_problem("softcap after additions",
                             "what should be added after the softcap is capped, too",
                             {softcap_last}));
  to.push_back(other_problem("bias forgotten", "the bias adds nothing", {no_bias}));
  to.push_back(other_problem("finite mask ignored", "an additive mask only excludes",
                             {finite_mask_ignored}));
}

}  // namespace

void append_score_alternatives(Alternatives& to) {
  append_scales(to);
  append_terms(to);
  append_alibi_alternatives(to);
  to.push_back(other_problem("sink forgotten", "the weights of the keys sum to 1", {no_sink}));
  to.push_back(other_problem("sink of zero", "the logits of the sink are taken as 0", {sink_zero}));
  to.push_back(
      other_problem("sink not in the lse", "the lse leaves the sink out", {sink_leaves_lse}));
  to.push_back(other_problem("sink in the lse", "the lse counts the sink", {sink_enters_lse}));
  to.push_back({"sink in every split", "every kv split counts the sink", {{sinks_of_splits()}}});
  to.push_back(other_problem("descales of the first head",
                             "every head is multiplied by the descale of the first",
                             {descales_of_first_head}));
  to.push_back(
      other_problem("descales forgotten", "stored numbers are taken as they are", {no_descales}));
  to.push_back(other_problem("qv forgotten", "scores leave out qv . v", {no_qv}));
}

}  // namespace attest::properties
