// Mistakes in how a key is excluded: by a finite score, or by a weight of 0.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "properties/diagnosis_alternatives.hpp"
#include "properties/tile_model.hpp"

namespace attest::properties {
namespace {

/// Keys of a member that a row does not see, and, if asked for, padding behind them.
std::vector<Index> excluded_keys(const DiagnosedRun& run, const RowIndex& row, Index end) {
  const std::vector<Index> visible = reference::visible_keys(run.problem(), row.batch, row.query);
  std::vector<Index> excluded;
  for (Index key = 0; key < end; ++key)
    if (!std::binary_search(visible.begin(), visible.end(), key)) excluded.push_back(key);
  return excluded;
}

/// NaN for padding: nothing lies there.
std::vector<double> value_of(const DiagnosedRun& run, const RowIndex& row, Index key) {
  std::vector<double> value;
  if (key >= run.problem().key_length(row.batch)) {
    value.assign(static_cast<std::size_t>(run.problem().head_dim_v),
                 std::numeric_limits<double>::quiet_NaN());
    return value;
  }
  const reference::Inputs inputs = inputs_of(run.of());
  reference::RowReader(inputs).append_value(row.batch, run.problem().kv_head(row.head), key, value);
  return value;
}

/// A row with further keys of one score; NaN in the columns in which one of their values is not
/// finite, as 0 times such a value is NaN.
std::optional<RowPrediction> with_keys_of_score(const DiagnosedRun& run, const RowIndex& row,
                                                const std::vector<Index>& keys, double score) {
  const auto& exact = run.truth(row);
  if (!exact || run.problem().all_masked != AllMaskedPolicy::zero) return std::nullopt;
  const RowFacts& facts = exact->facts;
  if (keys.empty()) return run.right(row);
  if (!exact->bound.proven()) return std::nullopt;
  double largest = score;
  for (const double other : facts.score) largest = std::max(largest, other);
  const std::size_t columns = facts.output.size();
  double sum = 0;
  std::vector<double> numerator(columns, 0);
  std::vector<double> magnitude(columns, 0);
  const auto add = [&](double weight, const double* value) {
    sum += weight;
    for (std::size_t c = 0; c < columns; ++c) {
      numerator[c] += weight * value[c];
      magnitude[c] += std::abs(weight * value[c]);
    }
  };
  for (std::size_t j = 0; j < facts.keys.size(); ++j)
    add(std::exp(facts.score[j] - largest), &facts.value[j * columns]);
  for (const Index key : keys) {
    const std::vector<double> value = value_of(run, row, key);
    add(std::exp(score - largest), value.data());
  }
  const double unit = run.accuracy().format.unit_roundoff;
  const auto terms = static_cast<double>(run.problem().seq_kv + 8);
  const double share = std::max(share_of_magnitude(facts, exact->bound), terms * unit);
  RowPrediction prediction;
  for (std::size_t c = 0; c < columns; ++c)
    prediction.output.push_back(
        {std::isnan(numerator[c]) ? Expected::Kind::nan : Expected::Kind::number,
         {numerator[c] / sum, 0, 0},
         2 * share * magnitude[c] / sum,
         {}});
  if (!exact->asked_lse) return prediction;
  if (run.problem().sink && !run.problem().sink->in_lse) return std::nullopt;
  const double base = run.problem().lse == LseForm::base_two ? std::numbers::log2e : 1;
  const double lse = (largest + std::log(sum)) * base;
  prediction.lse = Expected{Expected::Kind::number,
                            {lse, 0, 0},
                            2 * exact->asked_lse_bound + terms * unit + 4 * unit * std::abs(lse),
                            {}};
  return prediction;
}

/// Excluded keys, or also padding, get one of the scores.
Fit finite_score(double score, bool padding) {
  return [score, padding](const DiagnosedRun& run) -> Predictor {
    return [&run, score, padding](const RowIndex& row) {
      const Index end = padding ? run.problem().seq_kv : run.problem().key_length(row.batch);
      return with_keys_of_score(run, row, excluded_keys(run, row, end), score);
    };
  };
}

Fit capped_score(bool padding) {
  return [padding](const DiagnosedRun& run) -> Predictor {
    const double cap = run.problem().softcap;
    if (cap == 0) return nullptr;
    return finite_score(-cap, padding)(run);
  };
}

Fit padding_of_score_zero() {
  return [](const DiagnosedRun& run) -> Predictor {
    if (run.problem().key_lengths.empty()) return nullptr;
    return [&run](const RowIndex& row) {
      std::vector<Index> padding;
      for (Index key = run.problem().key_length(row.batch); key < run.problem().seq_kv; ++key)
        padding.push_back(key);
      return with_keys_of_score(run, row, padding, 0);
    };
  };
}

/// Where only padding is excluded, it is a mistake about padding.
Fit excluded_of_score_zero(bool padding) {
  return [padding](const DiagnosedRun& run) -> Predictor {
    if (run.problem().mask.none()) return nullptr;
    return finite_score(0, padding)(run);
  };
}

enum class Leaks { values, keys_too };

/// Excluded keys of a row that lie in a unit in which it sees a key; of all units without `scope`.
std::vector<Index> keys_that_leak(const DiagnosedRun& run, const RowIndex& row,
                                  std::optional<SummaryScope> scope) {
  std::vector<Index> keys = excluded_keys(run, row, run.problem().key_length(row.batch));
  if (!scope) return keys;
  const std::vector<Index> visible = reference::visible_keys(run.problem(), row.batch, row.query);
  const std::vector<KeyRange> units = units_of(run, *scope);
  std::erase_if(keys, [&](Index key) {
    return std::none_of(units.begin(), units.end(), [&](const KeyRange& unit) {
      const auto seen = std::lower_bound(visible.begin(), visible.end(), unit.begin);
      return unit.begin <= key && key < unit.end && seen != visible.end() && *seen < unit.end;
    });
  });
  return keys;
}

/// Values of excluded keys are multiplied by 0 and added: NaN where they are not finite.
Fit weigh_zero(Leaks what, std::optional<SummaryScope> scope) {
  return [what, scope](const DiagnosedRun& run) -> Predictor {
    return [&run, what, scope](const RowIndex& row) {
      std::optional<RowPrediction> prediction = run.right(row);
      if (!prediction) return prediction;
      const Problem& problem = run.problem();
      bool all = false;
      for (const Index key : keys_that_leak(run, row, scope)) {
        const std::vector<double> value = value_of(run, row, key);
        for (std::size_t c = 0; c < value.size(); ++c)
          if (!std::isfinite(value[c])) prediction->output[c].kind = Expected::Kind::nan;
        for (Index c = 0; what == Leaks::keys_too && c < problem.head_dim; ++c)
          all = all || !std::isfinite(run.of().k.get(row.batch, problem.kv_head(row.head), key, c));
      }
      if (!all) return prediction;
      for (Expected& element : prediction->output) element.kind = Expected::Kind::nan;
      if (prediction->lse) prediction->lse->kind = Expected::Kind::nan;
      return prediction;
    };
  };
}

}  // namespace

void append_excluded_alternatives(Alternatives& to) {
  Alternative finite{"excluded keys get a finite score",
                     "a large negative number stands for the score of an excluded key",
                     {},
                     false};
  for (const double score : kFiniteMinusInfinities)
    for (const bool padding : {false, true}) finite.forms.push_back({finite_score(score, padding)});
  to.push_back(std::move(finite));
  to.push_back({"excluded keys score 0",
                "scores are multiplied by the mask: the score of an excluded key is 0",
                {{excluded_of_score_zero(false)}, {excluded_of_score_zero(true)}}});
  to.push_back({"excluded keys are capped",
                "the softcap makes a finite score of the one that excludes a key",
                {{capped_score(false)}, {capped_score(true)}}});
  to.push_back({"padding keys score 0",
                "keys beyond the length of a batch member take part",
                {{padding_of_score_zero()}}});
  Alternative zero{"excluded keys weigh 0",
                   "values of excluded keys are multiplied by 0 and added, so that NaN leaks",
                   {},
                   false};
  // A part in which the row sees no key is left out of a merge, with what leaked into it.
  constexpr std::array<std::optional<SummaryScope>, 4> scopes{
      std::nullopt, SummaryScope::split, SummaryScope::tile, SummaryScope::row};
  for (const Leaks what : {Leaks::values, Leaks::keys_too})
    for (const auto& scope : scopes) zero.forms.push_back({weigh_zero(what, scope)});
  to.push_back(std::move(zero));
}

}  // namespace attest::properties
