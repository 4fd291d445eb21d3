#include "properties/diagnosis_run.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "attest/narrow_float.hpp"

namespace attest::properties {
namespace {

/// What a class says (NaN, infinity, nothing written): there are few of them.
constexpr double kBitsOfAClass = 8;
constexpr double kMostBitsOfANumber = 24;

/// A number that no result has by chance, and that every type holds.
constexpr double kOtherFill = 0x1.8p-5;

std::tuple<Index, Index, Index> key_of(const RowIndex& row) {
  return {row.batch, row.head, row.query};
}

double bits_between(const Expected& right, const Expected& expected, double got) {
  if (expected.kind == Expected::Kind::anything) return 0;
  if (expected.kind != Expected::Kind::number || right.kind != Expected::Kind::number)
    return kBitsOfAClass;
  // Of a number that might be anything near the truth the grid alone says something.
  if (expected.grid) return -std::log2(expected.grid->unit_roundoff) / 2;
  const double distance = right.value.distance_lower(expected.value.high);
  if (std::isinf(expected.value.high) || std::isinf(right.value.high))
    return distance > 0 ? kBitsOfAClass : 0;
  const double unit = std::max(expected.bound, std::abs(got) * 0x1p-53);
  if (!(distance > unit)) return 0;
  return unit == 0 ? kMostBitsOfANumber : std::min(kMostBitsOfANumber, std::log2(distance / unit));
}

}  // namespace

std::optional<RowPrediction> prediction_of_nan(const Case& of, const RowIndex& row) {
  const Problem& problem = of.problem;
  const reference::Inputs inputs = inputs_of(of);
  const reference::RowReader reader(inputs);
  std::vector<double> scored;
  reader.append_query(row, scored);
  RowPrediction prediction;
  prediction.output.assign(static_cast<std::size_t>(problem.head_dim_v),
                           Expected{Expected::Kind::anything, {}, 0, {}});
  bool any = false;
  for (const Index key : reference::visible_keys(problem, row.batch, row.query)) {
    reader.append_key(row.batch, problem.kv_head(row.head), key, scored);
    std::vector<double> value;
    reader.append_value(row.batch, problem.kv_head(row.head), key, value);
    for (std::size_t c = 0; c < value.size(); ++c) {
      if (std::isinf(value[c])) return std::nullopt;
      if (std::isnan(value[c])) prediction.output[c].kind = Expected::Kind::nan, any = true;
    }
  }
  for (const double number : scored) {
    if (std::isinf(number)) return std::nullopt;
    if (!std::isnan(number)) continue;
    for (Expected& element : prediction.output) element.kind = Expected::Kind::nan;
    prediction.lse = Expected{Expected::Kind::nan, {}, 0, {}};
    any = true;
  }
  return any ? std::optional(prediction) : std::nullopt;
}

std::optional<RowPrediction> prediction_of(const reference::CertifiedRow& row,
                                           const Problem& problem) {
  if (!row.bound.proven()) return std::nullopt;
  RowPrediction prediction;
  const bool empty = row.facts.keys.empty();
  for (std::size_t c = 0; c < row.facts.output.size(); ++c) {
    Expected expected{Expected::Kind::number, row.facts.output[c], row.bound.output[c], {}};
    if (empty && problem.all_masked == AllMaskedPolicy::nan) expected.kind = Expected::Kind::nan;
    if (empty && problem.all_masked == AllMaskedPolicy::any)
      expected.kind = Expected::Kind::anything;
    prediction.output.push_back(expected);
  }
  if (row.asked_lse) {
    const double size = std::abs(row.asked_lse->high);
    // Of a maximum and a sum the logarithm is taken here.
    const double rounding =
        problem.lse == LseForm::max_sum && std::isfinite(size) ? 0x1p-52 * size : 0;
    prediction.lse =
        Expected{Expected::Kind::number, *row.asked_lse, row.asked_lse_bound + rounding, {}};
  }
  return prediction;
}

DiagnosedRun::DiagnosedRun(const Kernel& kernel, ForwardRun run)
    : kernel_(kernel), run_(std::move(run)), accuracy_(kernel.accuracy(run_.of.problem)) {
  rows_ = all_rows(problem());
  const auto wrong = [&](const RowIndex& row) {
    const auto expected = right(row);
    return expected && !shows(row, *expected);
  };
  const auto end = std::stable_partition(rows_.begin(), rows_.end(), wrong);
  wrong_rows_ = static_cast<std::size_t>(end - rows_.begin());
}

const Tiling& DiagnosedRun::tiling() const {
  return accuracy_.own_tiling ? *accuracy_.own_tiling : of().tiling;
}

const std::optional<reference::CertifiedRow>& DiagnosedRun::truth(const RowIndex& row) const {
  const auto known = truth_.find(key_of(row));
  if (known != truth_.end()) return known->second;
  return truth_.emplace(key_of(row), Truth(accuracy_, of()).row(row)).first->second;
}

std::optional<RowPrediction> DiagnosedRun::right(const RowIndex& row) const {
  const auto& exact = truth(row);
  return exact ? prediction_of(*exact, problem()) : std::nullopt;
}

bool DiagnosedRun::is_empty(const RowIndex& row) const {
  return !problem().sink && reference::visible_keys(problem(), row.batch, row.query).empty();
}

RowBound DiagnosedRun::fine_bound(const RowFacts& facts) const {
  DeclaredAccuracy fine = accuracy_;
  fine.weight_cast.reset();
  fine.output_format.reset();
  return error_bound(fine, facts, of().tiling, problem().seq_kv);
}

bool DiagnosedRun::written(const RowIndex& row, Index column) const {
  const auto at = [&](const Outputs& of) {
    const Tensor& tensor = column < 0 ? of.lse : of.out;
    return std::pair(tensor.get(row.batch, row.head, row.query, std::max(column, Index{0})),
                     is_poison(tensor, row.batch, row.head, row.query, std::max(column, Index{0})));
  };
  if (!at(outputs()).second) return true;
  if (!again_) again_ = run_kernel_over(kernel_, of(), kOtherFill);
  return at(*again_).first != kOtherFill;
}

bool DiagnosedRun::shows(const RowIndex& row, Index column, const Expected& expected) const {
  const bool of_lse = column < 0;
  const double got = of_lse ? outputs().lse_at(row) : outputs().at(row, column);
  switch (expected.kind) {
    case Expected::Kind::anything:
      return true;
    case Expected::Kind::nan:
      return std::isnan(got) && written(row, column);
    case Expected::Kind::unwritten:
      return !written(row, column);
    case Expected::Kind::number:
      break;
  }
  if (expected.grid && !(round_to(*expected.grid, got) == got)) return false;
  return expected.value.distance_lower(got) <= expected.bound;
}

bool DiagnosedRun::shows(const RowIndex& row, const RowPrediction& expected) const {
  for (std::size_t c = 0; c < expected.output.size(); ++c)
    if (!shows(row, static_cast<Index>(c), expected.output[c])) return false;
  return !expected.lse || !outputs().has_lse() || shows(row, -1, *expected.lse);
}

double DiagnosedRun::bits_of_evidence(const RowIndex& row, const RowPrediction& expected) const {
  const auto exact = right(row);
  if (!exact) return 0;
  double bits = 0;
  const auto add = [&](Index column, const Expected& is_right, const Expected& is_expected) {
    const double got = column < 0 ? outputs().lse_at(row) : outputs().at(row, column);
    if (!shows(row, column, is_right))
      bits = std::max(bits, bits_between(is_right, is_expected, got));
  };
  for (std::size_t c = 0; c < expected.output.size(); ++c)
    add(static_cast<Index>(c), exact->output[c], expected.output[c]);
  if (expected.lse && exact->lse && outputs().has_lse()) add(-1, *exact->lse, *expected.lse);
  return bits;
}

namespace {

/// The cases that a wrong kernel would solve instead, one a batch member.
class OtherCases {
 public:
  OtherCases(const DiagnosedRun& run, ChangeCase change) : run_(run), change_(change) {}

  std::optional<RowPrediction> row(const RowIndex& row) {
    const Changed& changed = of_member(row.batch);
    if (!changed.differs) return run_.right(row);
    const auto exact = changed.truth->row(row);
    return exact ? prediction_of(*exact, changed.of.problem) : prediction_of_nan(changed.of, row);
  }
  /// Whether any member sees another problem.
  bool differ() {
    bool any = false;
    for (Index b = 0; b < run_.problem().batch; ++b) any = of_member(b).differs || any;
    return any;
  }

 private:
  struct Changed {
    bool differs = false;
    Case of;
    std::optional<Truth> truth;  ///< of `of`
  };

  const Changed& of_member(Index b) {
    std::unique_ptr<Changed>& changed = of_member_[b];
    if (changed) return *changed;
    changed = std::make_unique<Changed>();
    changed->of = run_.of();
    changed->differs = change_(changed->of, b);
    changed->truth.emplace(run_.kernel().accuracy(changed->of.problem), changed->of);
    return *changed;
  }

  const DiagnosedRun& run_;
  ChangeCase change_;
  std::map<Index, std::unique_ptr<Changed>> of_member_;
};

}  // namespace

Fit solves_instead(ChangeCase change) {
  return [change](const DiagnosedRun& run) -> Predictor {
    const auto cases = std::make_shared<OtherCases>(run, change);
    if (!cases->differ()) return nullptr;
    return [cases](const RowIndex& row) { return cases->row(row); };
  };
}

Fit solves_instead_without_lse(ChangeCase change) {
  const Fit solved = solves_instead(change);
  return [solved](const DiagnosedRun& run) -> Predictor {
    const Predictor other = solved(run);
    if (!other) return nullptr;
    return [other](const RowIndex& row) {
      std::optional<RowPrediction> prediction = other(row);
      if (prediction && prediction->lse) prediction->lse->kind = Expected::Kind::anything;
      return prediction;
    };
  };
}

}  // namespace attest::properties
