#include "properties/gradient_truth.hpp"

#include <cmath>
#include <utility>

#include "properties/judge.hpp"
#include "properties/probe.hpp"

namespace attest::properties {

std::vector<RowIndex> rows_of(const Problem& problem, const KvHead& head) {
  std::vector<RowIndex> rows;
  const Index group = problem.heads_q / problem.heads_kv;
  for (Index h = head.head * group; h < (head.head + 1) * group; ++h)
    for (Index query = 0; query < problem.query_length(head.b); ++query)
      rows.push_back({head.b, h, query});
  return rows;
}

KvHead drawn_head(const Case& of) {
  const Problem& problem = of.problem;
  const auto heads = static_cast<std::uint64_t>(problem.batch * problem.heads_kv);
  const auto at = [&](std::uint64_t number) {
    const auto place = static_cast<Index>((seed_of(of) + number) % heads);
    return KvHead{place / problem.heads_kv, place % problem.heads_kv};
  };
  for (std::uint64_t number = 0; number < heads; ++number) {
    const KvHead head = at(number);
    for (Index query = 0; query < problem.query_length(head.b); ++query)
      if (!reference::visible_keys(problem, head.b, query).empty()) return head;
  }
  return at(0);
}

GradientTruth::GradientTruth(const Kernel& kernel, const Case& of)
    : kernel_(kernel), of_(of), accuracy_(kernel.gradient_accuracy(of.problem)) {}

std::vector<RowBound> GradientTruth::forward_bounds(const KvHead& head,
                                                    const Tiling& tiling) const {
  Case tiled = of_;
  tiled.tiling = tiling;
  const Truth truth(kernel_, tiled);
  std::vector<RowBound> bounds;
  for (const RowIndex& row : rows_of(of_.problem, head)) {
    const auto exact = truth.row(row);
    RowBound bound = exact ? exact->bound : RowBound{};
    if (!exact) bound.unproven = "a visible input is not finite";
    bound.output.resize(static_cast<std::size_t>(of_.problem.head_dim_v));
    bounds.push_back(std::move(bound));
  }
  return bounds;
}

GradientBound GradientTruth::bound(const GradientFacts& facts, const KvHead& head,
                                   const Tiling& tiling) const {
  return gradient_bound(accuracy_, facts, forward_bounds(head, tiling));
}

std::optional<reference::CertifiedGradients> GradientTruth::head(const KvHead& head) const {
  return shared(std::span<const KvHead>(&head, 1));
}

std::optional<reference::CertifiedGradients> GradientTruth::shared(
    std::span<const KvHead> heads) const {
  std::optional<GradientInputs> all;
  std::vector<RowBound> forward;
  for (const KvHead& head : heads) {
    auto inputs = reference::read_gradient_inputs(inputs_of(of_), view_of(of_.dout),
                                                  view_of(of_.dlse), head.b, head.head);
    if (!inputs) return std::nullopt;
    const std::vector<RowBound> bounds = forward_bounds(head, of_.tiling);
    forward.insert(forward.end(), bounds.begin(), bounds.end());
    if (all)
      all->rows.insert(all->rows.end(), inputs->rows.begin(), inputs->rows.end());
    else
      all = std::move(inputs);
  }
  if (!all) return std::nullopt;
  return reference::certify_gradients(
      *all, [&](const GradientFacts& facts) { return gradient_bound(accuracy_, facts, forward); });
}

Gradients<double> magnitudes(const GradientFacts& facts) {
  const GradientInputs& inputs = facts.inputs;
  Gradients<double> sizes = Gradients<double>::of_size(inputs, 0.0);
  const auto d = static_cast<std::size_t>(inputs.head_dim);
  const auto d_v = static_cast<std::size_t>(inputs.head_dim_v);
  const double scale = std::abs(inputs.scale);
  for (std::size_t i = 0; i < inputs.rows.size(); ++i) {
    const GradientRow& row = inputs.rows[i];
    const GradientRowFacts& of_row = facts.rows[i];
    for (std::size_t seen = 0; seen < row.keys.size(); ++seen) {
      const auto j = static_cast<std::size_t>(row.keys[seen]);
      const GradientPair& pair = of_row.pairs[seen];
      const double ds = pair.probability * (pair.value_dot_magnitude + of_row.delta);
      const double dx = ds * pair.slope;
      sizes.dbias[i * static_cast<std::size_t>(inputs.keys) + j] =
          inputs.bias_before_softcap ? dx : ds;
      for (std::size_t c = 0; c < d; ++c) {
        sizes.dq[i * d + c] += scale * dx * std::abs(inputs.k[j * d + c]);
        sizes.dk[j * d + c] += scale * dx * std::abs(row.q[c]);
      }
      for (std::size_t c = 0; c < d_v; ++c)
        sizes.dv[j * d_v + c] += pair.probability * std::abs(row.output_gradient[c]);
    }
    sizes.dsink[i] = of_row.sink_probability * of_row.delta;
  }
  return sizes;
}

Dtype gradient_dtype(const Problem& problem, GradientPart part) {
  if (part == GradientPart::dq) return problem.dtype;
  return part == GradientPart::dk ? problem.k_dtype() : problem.v_dtype();
}

const Tensor& tensor_of(const GradientOutputs& outputs, GradientPart part) {
  return part == GradientPart::dq ? outputs.dq : part == GradientPart::dk ? outputs.dk : outputs.dv;
}

std::vector<GradientElement> elements_of(const Problem& problem, const KvHead& head,
                                         GradientPart part) {
  std::vector<RowIndex> rows;
  if (part == GradientPart::dq) rows = rows_of(problem, head);
  for (Index key = 0; part != GradientPart::dq && key < problem.key_length(head.b); ++key)
    rows.push_back({head.b, head.head, key});
  const Index columns = part == GradientPart::dv ? problem.head_dim_v : problem.head_dim;
  std::vector<GradientElement> elements;
  elements.reserve(rows.size() * static_cast<std::size_t>(columns));
  for (const RowIndex& row : rows)
    for (Index c = 0; c < columns; ++c)
      elements.push_back(
          {part, elements.size(), {kGradientNames[static_cast<std::size_t>(part)], row, c}});
  return elements;
}

}  // namespace attest::properties
