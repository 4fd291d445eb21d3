// What a backward pass makes of the results of the forward pass before it.
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "probe/experiments.hpp"
#include "probe/gradient_runs.hpp"
#include "properties/poison.hpp"

namespace attest::probe {
namespace {

using M = GradientMistake;
using Hypotheses = std::vector<GradientHypothesis>;
using enum properties::ModelPart;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// What f32 arithmetic makes of a weight: it is far below a rounding to f16.
constexpr double kFineWeights = 0x1p-19;

template <class Set>
GradientHypothesis with(std::string value, Set&& set) {
  GradientHypothesis hypothesis{std::move(value)};
  set(hypothesis.mistake);
  return hypothesis;
}

GradientHypothesis right(std::string value) {
  return {std::move(value)};
}

/// The bias of seed 2 is far beyond the scores: one key has all weight, and gradients vanish.
std::vector<std::string> seeds(const std::string& line) {
  return {line + " vals=normal:1", line + " vals=normal:3"};
}

const std::string kPlain = "1x2:4x5:8 TYPE bwd=dq,dk,dv";
/// Logits of a sink are from negligible to dominating.
const std::string kOfSink = "1x6:4x5:8 TYPE bwd=dq,dk,dv";

void append(Found& found, std::vector<Finding> more) {
  for (Finding& one : more) found.push_back(std::move(one));
}

void probe_factors(GradientRuns& runs, Found& found) {
  found.push_back(
      decide(runs, "dq, scale", seeds(kPlain), model_dq,
             {right("applied once"), with("left out", [](M& m) { m.query_scale = M::Factor::one; }),
              with("applied twice", [](M& m) { m.query_scale = M::Factor::twice; })}));
  found.push_back(
      decide(runs, "dk, scale", seeds(kPlain), model_dk,
             {right("applied once"), with("left out", [](M& m) { m.key_scale = M::Factor::one; }),
              with("applied twice", [](M& m) { m.key_scale = M::Factor::twice; })}));
}

void probe_delta(GradientRuns& runs, Found& found) {
  append(
      found,
      decide_parts(
          runs, "delta, subtracted from dout . v", seeds(kPlain), {model_dq, model_dk},
          {right("row sum of dout * out"), with("left out", [](M& m) { m.delta = M::Delta::none; }),
           with("that of the next query", [](M& m) { m.delta = M::Delta::of_next_row; })}));
  append(found,
         decide_parts(runs, "gradient of the lse", seeds(kPlain + ",dlse"), {model_dq, model_dk},
                      {right("subtracted from delta"),
                       with("left out", [](M& m) { m.delta = M::Delta::without_dlse; }),
                       with("added to delta", [](M& m) { m.delta = M::Delta::plus_dlse; })}));
}

void probe_sums_over_rows(GradientRuns& runs, Found& found) {
  append(
      found,
      decide_parts(
          runs, "dk and dv, heads of a group", seeds("1x6/2:4x5:8 TYPE bwd=dq,dk,dv"),
          {model_dk, model_dv},
          {right("summed"),
           with("the last one left out", [](M& m) { m.rows = M::Rows::not_last_head_of_group; }),
           with("the first one alone", [](M& m) { m.rows = M::Rows::first_head_of_group_only; }),
           with("the last one alone", [](M& m) { m.rows = M::Rows::last_head_of_group_only; })}));
  append(found,
         decide_parts(
             runs, "dk and dv, tiles of queries", seeds("1x2:10x6:8 TYPE bwd=dq,dk,dv tile=4x8"),
             {model_dk, model_dv},
             {right("summed"),
              with("the last one left out", [](M& m) { m.rows = M::Rows::not_last_query_tile; }),
              with("the last one alone", [](M& m) { m.rows = M::Rows::last_query_tile_only; })}));
  append(found,
         decide_parts(runs, "lse that weights are formed from", seeds(kPlain), {model_dq, model_dv},
                      {right("that of the row"),
                       with("that of the next head", [](M& m) { m.lse_of_next_head = true; })}));
}

GradientHypothesis diagonal(std::string value, Causal causal) {
  return {std::move(value), {}, [causal](Case& of) {
            of.problem.mask.causal = causal;
            return true;
          }};
}

void probe_causal(GradientRuns& runs, Found& found) {
  using Alignment = Causal::Alignment;
  // Every row has keys in the forward pass, or there were no lse to form weights from.
  const Index offset = 5;
  const Hypotheses hypotheses{
      diagonal("top-left", {Alignment::top_left, 0}),
      diagonal("bottom-right", {Alignment::bottom_right, 0}),
      diagonal("top-left, 1 key more", {Alignment::explicit_offset, 1}),
      diagonal("top-left, 1 key fewer", {Alignment::explicit_offset, -1}),
      diagonal("bottom-right, 1 key more", {Alignment::explicit_offset, offset + 1}),
      diagonal("bottom-right, 1 key fewer", {Alignment::explicit_offset, offset - 1}),
      {"no mask at all", {}, [](Case& of) {
         of.problem.mask.causal.reset();
         return true;
       }}};
  for (const auto& [words, corner] : {std::pair{"br", "bottom-right"}, {"tl", "top-left"}})
    append(found,
           decide_parts(runs, std::string("causal in the backward pass, ") + corner + " asked",
                        seeds("1x4:6x11:8 TYPE bwd=dq,dk,dv mask=causal:" + std::string(words)),
                        {model_dq, model_dk, model_dv}, hypotheses));
  found.push_back(decide(
      runs, "dv of keys that a row does not see",
      seeds("1x2:4x9:8 TYPE bwd=dq,dk,dv mask=causal:tl"), model_dv,
      {right("none"), with("as if it saw them", [](M& m) { m.values_of_masked_keys = true; })}));
}

void probe_softcap_slope(GradientRuns& runs, Found& found) {
  const Hypotheses slopes{
      right("at the capped score"), with("left out", [](M& m) { m.slope = M::Slope::one; }),
      with("at the score before it", [](M& m) { m.slope = M::Slope::of_uncapped; })};
  append(found, decide_parts(runs, "derivative of the softcap", seeds(kPlain + " cap=0.75"),
                             {model_dq, model_dk}, slopes));
  append(
      found,
      decide_parts(
          runs, "derivative of the softcap, bias after it", seeds(kPlain + " cap=0.75 bias=h2d"),
          {model_dq, model_dk},
          {right("at the capped score"), with("left out", [](M& m) { m.slope = M::Slope::one; }),
           with("where the bias has been added", [](M& m) { m.slope = M::Slope::of_finished; })}));
}

void probe_bias_and_sink(GradientRuns& runs, Found& found) {
  found.push_back(decide(runs, "dbias of a bias for all queries", seeds(kPlain + ",dbias bias=h1d"),
                         model_dbias,
                         {right("summed over them"),
                          with("that of the last one", [](M& m) { m.bias_of_last_row = true; })}));
  const Hypotheses of_sink{right("-weight * delta"),
                           with("weight * delta", [](M& m) { m.sink = M::Sink::other_sign; })};
  found.push_back(decide(runs, "dsink", seeds(kOfSink + ",dsink sink=head"), model_dsink, of_sink));
  found.push_back(decide(
      runs, "dsink, gradient of the lse", seeds(kOfSink + ",dsink,dlse sink=head"), model_dsink,
      {right("counted in delta"), with("left out", [](M& m) { m.sink = M::Sink::without_dlse; })}));
}

/// The weights of dv: what they are rounded to stands out only beside fine arithmetic.
void probe_weights_of_dv(GradientRuns& runs, Found& found) {
  const Dtype dtype = runs.subject().dtype();
  found.push_back(decide(
      runs, "weights before they multiply dout", seeds(kPlain), model_dv,
      {right("not rounded"), with("rounded to bf16", [](M& m) { m.weight_format = kBf16; }),
       with("rounded to f16", [](M& m) { m.weight_format = kF16; })},
      kFineWeights + (size_of(dtype) < size_of(Dtype::f32) ? format_of(dtype).unit_roundoff : 0)));
}

/// What a row is as a whole.
enum class Class { zero, nan, unwritten };

bool is_of(Class expected, const Tensor& tensor, const RowIndex& row, Index column) {
  const double got = tensor.get(row.batch, row.head, row.query, column);
  const bool unwritten = properties::is_poison(tensor, row.batch, row.head, row.query, column);
  if (expected == Class::zero) return got == 0;
  return expected == Class::unwritten ? unwritten : std::isnan(got) && !unwritten;
}

Finding class_of_empty_rows(GradientRuns& runs, const std::vector<Case>& inputs) {
  const std::vector<Class> classes{Class::zero, Class::nan, Class::unwritten};
  return decide("empty row, dq", inputs, {{"0"}, {"NaN"}, {"not written"}},
                [&](const Case& input) -> Result<Standings> {
                  const auto run = runs.run(input);
                  if (!run.ok()) return run.status();
                  Standings all(classes.size());
                  for_each_row(input.problem, [&](const RowIndex& row) {
                    if (!reference::visible_keys(input.problem, row.batch, row.query).empty())
                      return;
                    for (std::size_t i = 0; i < all.size(); ++i) {
                      ++all[i].rows;
                      for (Index c = 0; c < input.problem.head_dim; ++c)
                        if (!is_of(classes[i], run.value()->run.outputs.dq, row, c))
                          all[i].worst = kInfinity;
                    }
                  });
                  return all;
                });
}

void probe_empty_rows(GradientRuns& runs, Found& found) {
  const std::vector<std::string> lines{
      "1x2:4x5:8 TYPE bwd=dq,dk,dv mask=bits:11010/00000/00110/00000 vals=normal:1",
      "1x1:9x4:8 TYPE bwd=dq,dk,dv mask=causal:br vals=normal:2"};
  const auto inputs = all_made(runs.subject(), lines);
  if (!inputs.ok()) return;
  found.push_back(class_of_empty_rows(runs, inputs.value()));
}

}  // namespace

void probe_gradients(const Subject& subject, Found& found) {
  GradientRuns runs(subject);
  const auto plain = subject.made(kPlain);
  Status status = plain.ok() ? Status{} : plain.status();
  if (status.ok()) status = properties::run_backward(subject.kernel(), plain.value()).status;
  if (status.code() == StatusCode::unsupported) {
    found.push_back(cannot_tell("gradients", status));
    return;
  }
  if (subject.has_lse() && (!subject.lse_reading().usable || subject.lse_reading().unit != 1)) {
    found.push_back(cannot_tell(
        "gradients", "the forward pass does not write the natural lse that they are formed from"));
    return;
  }
  probe_factors(runs, found);
  probe_delta(runs, found);
  probe_sums_over_rows(runs, found);
  probe_causal(runs, found);
  probe_softcap_slope(runs, found);
  probe_bias_and_sink(runs, found);
  probe_weights_of_dv(runs, found);
  probe_empty_rows(runs, found);
}

}  // namespace attest::probe
