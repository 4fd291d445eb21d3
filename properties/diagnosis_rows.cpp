// Mistakes about whole rows: stale, unwritten, repeated, added up; and about the final division.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "properties/diagnosis_alternatives.hpp"
#include "properties/stand_ins.hpp"
#include "properties/tile_model.hpp"

namespace attest::properties {
namespace {

/// The output of another row; the lse stays.
std::optional<RowPrediction> with_output_of(const DiagnosedRun& run, const RowIndex& row,
                                            const RowIndex& from, bool lse_too) {
  std::optional<RowPrediction> prediction = run.right(row);
  const std::optional<RowPrediction> other = run.right(from);
  if (!prediction || !other) return std::nullopt;
  prediction->output = other->output;
  if (lse_too) prediction->lse = other->lse;
  return prediction;
}

/// Rows of the second tile of `tile` queries (or of all tiles but the first) repeat the first.
Fit repeats_first_tile(Index tile, bool every, bool lse_too) {
  return [=](const DiagnosedRun& run) -> Predictor {
    const Index size = tile > 0 ? tile : run.of().tiling.tile_q;
    if (run.problem().seq_q <= size) return nullptr;
    return [&run, size, every, lse_too](const RowIndex& row) {
      if (row.query < size || (!every && row.query >= 2 * size)) return run.right(row);
      return with_output_of(run, row, {row.batch, row.head, row.query % size}, lse_too);
    };
  };
}

/// Every output is added to that of the query before it.
Fit adds_up() {
  return [](const DiagnosedRun& run) -> Predictor {
    if (run.problem().seq_q < 2) return nullptr;
    return [&run](const RowIndex& row) -> std::optional<RowPrediction> {
      std::optional<RowPrediction> sum = run.right(row);
      if (!sum) return std::nullopt;
      for (Index query = 0; query < row.query; ++query) {
        const auto before = run.right({row.batch, row.head, query});
        if (!before) return std::nullopt;
        for (std::size_t c = 0; c < sum->output.size(); ++c) {
          Expected& to = sum->output[c];
          const Expected& from = before->output[c];
          if (from.kind != Expected::Kind::number || to.kind != Expected::Kind::number)
            return std::nullopt;
          to.bound += from.bound + from.value.radius + to.value.radius;
          to.value = {to.value.high + from.value.high, 0, 0};
          const double size = std::abs(to.value.high) + std::abs(from.value.high);
          to.bound += 2 * run.accuracy().format.unit_roundoff * size;
        }
      }
      return sum;
    };
  };
}

/// Wrong rows were left as they were.
Fit not_written() {
  return [](const DiagnosedRun& run) -> Predictor {
    return [&run](const RowIndex& row) {
      std::optional<RowPrediction> prediction = run.right(row);
      const bool looks_unwritten = run.problem().head_dim_v > 0 &&
                                   is_poison(run.outputs().out, row.batch, row.head, row.query, 0);
      if (!prediction || !looks_unwritten) return prediction;
      for (Expected& element : prediction->output) element.kind = Expected::Kind::unwritten;
      if (prediction->lse && is_poison(run.outputs().lse, row.batch, row.head, row.query, 0))
        prediction->lse->kind = Expected::Kind::unwritten;
      return prediction;
    };
  };
}

/// Exactly two rows are wrong, and each has what belongs to the other.
Fit two_rows_swapped() {
  return [](const DiagnosedRun& run) -> Predictor {
    if (run.wrong_rows() != 2) return nullptr;
    const RowIndex first = run.rows()[0];
    const RowIndex second = run.rows()[1];
    return [&run, first, second](const RowIndex& row) {
      if (row == first) return with_output_of(run, row, second, true);
      if (row == second) return with_output_of(run, row, first, true);
      return run.right(row);
    };
  };
}

/// sum + epsilon in the denominator.
Fit epsilon(double number) {
  return [number](const DiagnosedRun& run) -> Predictor {
    return [&run, number](const RowIndex& row) -> std::optional<RowPrediction> {
      std::optional<RowPrediction> prediction = run.right(row);
      if (!prediction || run.is_empty(row)) return prediction;
      const double log_sum = run.truth(row)->facts.log_sum;
      const double sum = std::exp(log_sum);
      // The kernel's sum is as good as before; `number` and one more sum are rounded. Of ours,
      // log_sum is a rounded logarithm, exp errs by two units, and four operations follow.
      const double relative =
          2 * run.accuracy().format.unit_roundoff +
          kF64.unit_roundoff * ((std::abs(log_sum) + 2) * number / (sum + number) + 4);
      for (Expected& element : prediction->output) {
        element.value = {(element.value.high + element.value.low) * (sum / (sum + number)), 0, 0};
        element.bound += relative * std::abs(element.value.high);
      }
      return prediction;
    };
  };
}

/// Outputs of a stand-in, by its place in the list; the lse is not looked at.
Fit outputs_of(std::size_t which) {
  return [which](const DiagnosedRun& run) -> Predictor {
    return [&run, which](const RowIndex& row) -> std::optional<RowPrediction> {
      const auto& exact = run.truth(row);
      std::optional<RowPrediction> prediction = run.right(row);
      if (!prediction || exact->facts.visible_keys() == 0) return prediction;
      if (prediction->lse) prediction->lse->kind = Expected::Kind::anything;
      const auto output = stand_in_output(which, run.of(), row, exact->facts);
      if (!output) return prediction;
      const double share = share_of_magnitude(exact->facts, exact->bound);
      for (std::size_t c = 0; c < output->size(); ++c) {
        double largest = 0;
        for (std::size_t j = 0; j < exact->facts.keys.size(); ++j)
          largest = std::max(largest, std::abs(exact->facts.value[j * output->size() + c]));
        prediction->output[c].value = {(*output)[c], 0, 0};
        prediction->output[c].bound = 2 * share * largest;
      }
      return prediction;
    };
  };
}

}  // namespace

void append_row_alternatives(Alternatives& to) {
  Alternative stale{"rows of the second tile repeat the first",
                    "queries behind the first tile of queries get what its rows got",
                    {},
                    false};
  for (const Index tile : {0, 4, 8, 16, 32, 64, 128})
    for (const bool every : {false, true})
      for (const bool lse : {false, true})
        stale.forms.push_back({repeats_first_tile(tile, every, lse)});
  to.push_back(std::move(stale));
  to.push_back({"rows add up", "a row starts with the result of the row before it", {{adds_up()}}});
  to.push_back({"two rows swapped",
                "two rows have what belongs to the other",
                {{two_rows_swapped()}},
                true});
  to.push_back(
      {"rows not written", "rows are left as they were before the call", {{not_written()}}, true});
}

void append_output_alternatives(Alternatives& to) {
  Alternative denominator{"epsilon in the denominator",
                          "a small number is added to the sum before the division",
                          {},
                          false};
  for (const double number : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12})
    denominator.forms.push_back({epsilon(number)});
  to.push_back(std::move(denominator));
  for (const std::string_view name :
       {"all zeros", "mean of all V", "uniform weights", "V of the last key",
        "V of the key of largest score", "last key dropped", "one key too many"}) {
    const auto all = stand_ins();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const StandIn& one) { return one.name == name; });
    if (found == all.end()) throw std::logic_error("no stand-in '" + std::string(name) + "'");
    const auto which = static_cast<std::size_t>(found - all.begin());
    to.push_back({found->name, found->sentence, {{outputs_of(which)}}, true});
  }
}

}  // namespace attest::properties
