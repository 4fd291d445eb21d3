// Mistakes in the lse, and in what a row without keys gives.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "properties/diagnosis_alternatives.hpp"

namespace attest::properties {
namespace {

bool lse_natural(Case& of, Index) {
  if (of.problem.lse != LseForm::base_two) return false;
  of.problem.lse = LseForm::natural;
  return true;
}
bool lse_base_two(Case& of, Index) {
  if (of.problem.lse != LseForm::natural) return false;
  of.problem.lse = LseForm::base_two;
  return true;
}

struct SeenRow {
  const RowFacts& facts;
  bool empty;  ///< it sees no key, and there is no sink
};

/// A change of the right row; false: the mistake does not show in it.
using ChangeRow = bool (*)(const DiagnosedRun&, const SeenRow&, RowPrediction&);

Fit changed_rows(ChangeRow change) {
  return [change](const DiagnosedRun& run) -> Predictor {
    return [&run, change](const RowIndex& row) -> std::optional<RowPrediction> {
      std::optional<RowPrediction> prediction = run.right(row);
      if (prediction) change(run, {run.truth(row)->facts, run.is_empty(row)}, *prediction);
      return prediction;
    };
  };
}

double in_unit_of(const Problem& problem, double natural) {
  return problem.lse == LseForm::base_two ? natural / std::numbers::ln2 : natural;
}

bool lse_is_maximum(const DiagnosedRun& run, const SeenRow& exact, RowPrediction& row) {
  if (!row.lse || exact.facts.keys.empty()) return false;
  row.lse->value = {in_unit_of(run.problem(), exact.facts.score_max), 0, 0};
  return true;
}
bool lse_without_maximum(const DiagnosedRun& run, const SeenRow& exact, RowPrediction& row) {
  if (!row.lse || exact.facts.keys.empty()) return false;
  row.lse->value = {in_unit_of(run.problem(), exact.facts.log_sum), 0, 0};
  row.lse->bound += 0x1p-40;
  return true;
}

template <Expected::Kind kind>
bool empty_of_kind(const DiagnosedRun&, const SeenRow& exact, RowPrediction& row) {
  if (!exact.empty) return false;
  for (Expected& element : row.output) element.kind = kind;
  if (kind == Expected::Kind::unwritten && row.lse) row.lse->kind = kind;
  return true;
}
bool empty_output_unwritten(const DiagnosedRun&, const SeenRow& exact, RowPrediction& row) {
  if (!exact.empty) return false;
  for (Expected& element : row.output) element.kind = Expected::Kind::unwritten;
  return true;
}
bool empty_nan_everywhere(const DiagnosedRun& run, const SeenRow& exact, RowPrediction& row) {
  if (!empty_of_kind<Expected::Kind::nan>(run, exact, row)) return false;
  if (row.lse) row.lse->kind = Expected::Kind::nan;
  return true;
}
bool empty_zero(const DiagnosedRun&, const SeenRow& exact, RowPrediction& row) {
  if (!exact.empty) return false;
  for (Expected& element : row.output) element = {};
  return true;
}
bool empty_lse_plus_infinity(const DiagnosedRun&, const SeenRow& exact, RowPrediction& row) {
  if (!exact.empty || !row.lse) return false;
  row.lse->value = {std::numeric_limits<double>::infinity(), 0, 0};
  return true;
}
bool empty_lse_minus_infinity(const DiagnosedRun&, const SeenRow& exact, RowPrediction& row) {
  if (!exact.empty || !row.lse) return false;
  row.lse->value = {-std::numeric_limits<double>::infinity(), 0, 0};
  return true;
}
template <std::size_t which>
bool empty_lse_finite(const DiagnosedRun& run, const SeenRow& exact, RowPrediction& row) {
  if (!exact.empty || !row.lse) return false;
  row.lse->value = {kFiniteMinusInfinities[which], 0, 0};
  row.lse->bound = std::abs(kFiniteMinusInfinities[which]) * run.accuracy().format.unit_roundoff;
  return true;
}

template <std::size_t... which>
std::vector<Form> forms_of_finite_lse(std::index_sequence<which...>) {
  return {Form{changed_rows(empty_lse_finite<which>)}...};
}

bool mean_of_v(Case& of, Index) {
  return std::exchange(of.problem.all_masked, AllMaskedPolicy::mean) != AllMaskedPolicy::mean;
}

bool every_key(Case& of, Index) {
  const bool had = !of.problem.mask.none() && !of.problem.mask.additive;
  if (had) of.problem.mask = {};
  return had;
}

/// Rows that see a key are right.
Fit empty_rows_of(ChangeCase change) {
  const Fit solved = solves_instead(change);
  return [solved](const DiagnosedRun& run) -> Predictor {
    const Predictor other = solved(run);
    if (!other) return nullptr;
    return [&run, other](const RowIndex& row) {
      return run.is_empty(row) ? other(row) : run.right(row);
    };
  };
}

/// The mean of v over padding, too, whose values are NaN.
Fit mean_with_padding() {
  const Fit mean = empty_rows_of(mean_of_v);
  return [mean](const DiagnosedRun& run) -> Predictor {
    const Predictor of_keys = mean(run);
    if (!of_keys || run.problem().key_lengths.empty()) return nullptr;
    return [&run, of_keys](const RowIndex& row) {
      std::optional<RowPrediction> prediction = of_keys(row);
      const bool padded = run.problem().key_length(row.batch) < run.problem().seq_kv;
      if (prediction && padded && run.is_empty(row))
        for (Expected& element : prediction->output) element.kind = Expected::Kind::nan;
      return prediction;
    };
  };
}

}  // namespace

void append_lse_alternatives(Alternatives& to) {
  to.push_back(other_problem("lse in base e", "the lse is natural where base two is asked for",
                             {lse_natural}));
  to.push_back(other_problem("lse in base two",
                             "the lse is in base two where the natural one is asked for",
                             {lse_base_two}));
  to.push_back({"lse is the maximum",
                "the logarithm of the sum is left out of the lse",
                {{changed_rows(lse_is_maximum)}}});
  to.push_back({"lse without the maximum",
                "the maximum is left out of the lse",
                {{changed_rows(lse_without_maximum)}}});
  to.push_back({"mean of v for empty rows",
                "a row without visible keys gives the mean of v",
                {{empty_rows_of(mean_of_v), mean_of_v}, {mean_with_padding()}}});
  to.push_back({"every key for empty rows",
                "a row without visible keys sees all keys",
                {{empty_rows_of(every_key)}}});
  to.push_back(
      {"NaN for empty rows",
       "a row without visible keys gives 0 / 0",
       {{changed_rows(empty_of_kind<Expected::Kind::nan>)}, {changed_rows(empty_nan_everywhere)}}});
  to.push_back(
      {"zero for empty rows", "a row without visible keys gives 0", {{changed_rows(empty_zero)}}});
  to.push_back({"empty rows not written",
                "results of a row without visible keys are what was there before",
                {{changed_rows(empty_of_kind<Expected::Kind::unwritten>)},
                 {changed_rows(empty_output_unwritten)}}});
  to.push_back({"lse of empty rows is +inf",
                "a row without visible keys has the lse +inf",
                {{changed_rows(empty_lse_plus_infinity)}}});
  to.push_back({"lse of empty rows is -inf",
                "a row without visible keys has the lse -inf",
                {{changed_rows(empty_lse_minus_infinity)}}});
  to.push_back({"lse of empty rows is finite",
                "a large finite number stands for the lse of a row without visible keys",
                forms_of_finite_lse(std::make_index_sequence<kFiniteMinusInfinities.size()>())});
}

}  // namespace attest::properties
