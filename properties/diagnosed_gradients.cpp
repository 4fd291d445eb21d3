#include "properties/diagnosed_gradients.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace attest::properties {
namespace {

constexpr double kMostBitsOfANumber = 24;

const Tensor& part_of(const GradientOutputs& outputs, std::size_t part) {
  const std::array<const Tensor*, 5> tensors{&outputs.dq, &outputs.dk, &outputs.dv, &outputs.dbias,
                                             &outputs.dsink};
  return *tensors[part];
}

/// Elements of a part that exist: rows and keys below their lengths.
template <class Body>
void for_each_element(const Problem& problem, std::size_t part, const Tensor& of, Body&& body) {
  if (of.extents() == Extents{}) return;
  for_each_index(of.extents(), [&](Index b, Index h, Index row, Index column) {
    if (part == model_dq && row >= problem.query_length(b)) return;
    if ((part == model_dk || part == model_dv) && row >= problem.key_length(b)) return;
    body(b, h, row, column);
  });
}

/// What a number may be off, for a share of the magnitude of its terms.
double limit_of(const ModelTensor& of, double share, Index b, Index h, Index row, Index column) {
  return 2 * share * of.magnitude.get(b, h, row, column) + of.slack.get(b, h, row, column) +
         0x1p-100;
}

}  // namespace

DiagnosedGradients::DiagnosedGradients(const Kernel& kernel, const BackwardRun& run)
    : run_(run), right_(model_gradients(run, {})) {
  if (!right_) return;
  const GradientTruth truth(kernel, run.of);
  ModelGradients limits;
  for (std::size_t part = 0; part < limits.parts.size(); ++part)
    for (Tensor* const tensor : {&limits.parts[part].value, &limits.parts[part].magnitude})
      *tensor = Tensor(Dtype::f64, right_->parts[part].value.extents());
  bool known = true;
  for (Index b = 0; b < run.of.problem.batch && known; ++b)
    for (Index head = 0; head < run.of.problem.heads_kv && known; ++head)
      known = add_limits(truth, {b, head}, limits);
  if (!known) right_.reset();
  if (!known) return;
  find_shares(limits);
  is_wrong_ = !shown(*right_, nullptr);
}

DiagnosedGradients::Shown DiagnosedGradients::compare(const ModelGradients& model) const {
  Shown result;
  result.all = shown(model, &result);
  return result;
}

DiagnosedGradients::Distance DiagnosedGradients::distance(const ModelGradients& model,
                                                          ModelPart part,
                                                          std::optional<double> rounding) const {
  Distance found;
  std::set<std::array<Index, 3>> rows;
  const ModelTensor& of = model.parts[part];
  const Tensor& got = part_of(run_.outputs, part);
  for_each_element(run_.of.problem, part, of.value, [&](Index b, Index h, Index row, Index column) {
    const double want = of.value.get(b, h, row, column);
    if (!std::isfinite(want)) return;
    rows.insert({b, h, row});
    const double away = std::abs(got.get(b, h, row, column) - want);
    const double ratio = away / limit_of(of, rounding.value_or(share_[part]), b, h, row, column);
    found.worst =
        std::max(found.worst, std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio);
  });
  found.rows = static_cast<Index>(rows.size());
  return found;
}

bool DiagnosedGradients::add_limits(const GradientTruth& truth, const KvHead& head,
                                    ModelGradients& limits) const {
  const auto exact = truth.head(head);
  if (!exact || !exact->bound.proven()) return false;
  const Problem& problem = run_.of.problem;
  const Gradients<double>& of = exact->bound.limit;
  for (const GradientPart part : kGradientParts)
    for (const GradientElement& element : elements_of(problem, head, part)) {
      const RowIndex& row = element.place.row;
      limits.parts[static_cast<std::size_t>(part)].value.set(row.batch, row.head, row.query,
                                                             element.place.column, element.of(of));
    }
  // Of what is a sum over rows, the sum of the bounds.
  const std::vector<RowIndex> rows = rows_of(problem, head);
  const auto keys = static_cast<std::size_t>(exact->facts.inputs.keys);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowIndex& row = rows[i];
    if (problem.backward->dbias)
      for (const Index key : exact->facts.inputs.rows[i].keys)
        limits.parts[model_dbias].add(
            {problem.bias->per_batch ? row.batch : 0, problem.bias->per_head ? row.head : 0,
             problem.bias->per_query ? row.query : 0, key},
            of.dbias[i * keys + static_cast<std::size_t>(key)], 0);
    if (problem.backward->dsink && problem.sink && !problem.sink->zero)
      limits.parts[model_dsink].add({0, row.head, 0, 0}, of.dsink[i], 0);
  }
  return true;
}

void DiagnosedGradients::find_shares(const ModelGradients& limits) {
  for (std::size_t part = 0; part < share_.size(); ++part) {
    const ModelTensor& of = right_->parts[part];
    for_each_element(run_.of.problem, part, of.value,
                     [&](Index b, Index h, Index row, Index column) {
                       const double size = of.magnitude.get(b, h, row, column);
                       const double limit = limits.parts[part].value.get(b, h, row, column);
                       if (size > 0x1p-90) share_[part] = std::max(share_[part], limit / size);
                     });
  }
}

bool DiagnosedGradients::shown(const ModelGradients& model, Shown* into) const {
  bool all = true;
  for (std::size_t part = 0; part < model.parts.size(); ++part) {
    const Tensor& got = part_of(run_.outputs, part);
    std::map<std::array<Index, 3>, double> bits;  // of wrong rows
    std::set<std::array<Index, 3>> rows;
    for_each_element(
        run_.of.problem, part, model.parts[part].value,
        [&](Index b, Index h, Index row, Index column) {
          if (!all) return;
          const double is = got.get(b, h, row, column);
          const double want = model.parts[part].value.get(b, h, row, column);
          // Of NaN that it would read a mistake says nothing.
          if (!std::isfinite(want)) return;
          const double bound = limit_of(model.parts[part], share_[part], b, h, row, column);
          if (!(std::abs(is - want) <= bound)) all = false;
          if (into == nullptr) return;
          rows.insert({b, h, row});
          const double right = right_->parts[part].value.get(b, h, row, column);
          const double of_right = limit_of(right_->parts[part], share_[part], b, h, row, column);
          if (std::abs(is - right) <= of_right) return;
          double& most = bits[{b, h, row}];
          const double away = std::abs(want - right) / bound;
          if (away > 1) most = std::max(most, std::min(kMostBitsOfANumber, std::log2(away)));
        });
    if (into == nullptr) continue;
    into->rows += static_cast<Index>(rows.size());
    into->wrong += static_cast<Index>(bits.size());
    for (const auto& of_row : bits) into->bits += of_row.second;
  }
  return all;
}

}  // namespace attest::properties
