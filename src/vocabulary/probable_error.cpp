#include <algorithm>
#include <cmath>

#include "order_aware.hpp"

namespace attest {
namespace {

/// Without an order: every contribution is rounded at its depth, charged with its magnitude.
std::vector<double> deviation_by_depth(const RowFacts& facts, std::span<const PathCounts> paths) {
  const std::size_t columns = facts.output.size();
  std::vector<double> sums(columns);
  for (std::size_t j = 0; j < facts.keys.size(); ++j) {
    const double depth = std::sqrt(static_cast<double>(paths[j].additions + paths[j].rescales + 1));
    for (std::size_t c = 0; c < columns; ++c)
      sums[c] += facts.probability[j] * std::abs(facts.value[j * columns + c]) * depth;
  }
  return sums;
}

/// Roundings that every weight and every value has of its own, squared.
std::vector<double> squares_of_weights(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                                       const RowTerms& terms) {
  const std::size_t columns = facts.output.size();
  const double cast = accuracy.weight_cast ? accuracy.weight_cast->format.unit_roundoff : 0;
  const bool centred = accuracy.weight_cast && accuracy.weight_cast->sum_of_rounded;
  std::vector<double> squares(columns);
  for (std::size_t j = 0; j < facts.keys.size(); ++j) {
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = facts.value[j * columns + c];
      const double shared = terms.z[j] * (value - facts.output[c].high);
      const double alone = centred ? 0 : cast * value;
      const double read = accuracy.value_relative_error * value;
      squares[c] += facts.probability[j] * facts.probability[j] *
                    (shared * shared + alone * alone + read * read);
    }
  }
  return squares;
}

}  // namespace

std::vector<double> probable_error(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                                   const Tiling& tiling, Index seq_kv, double lambda) {
  const std::size_t columns = facts.output.size();
  if (!precondition_failure(accuracy, facts).empty() || !merge_tree_fits(accuracy, tiling, seq_kv))
    return std::vector<double>(columns, std::numeric_limits<double>::infinity());
  std::vector<ScoredKey> keys = scored_keys(accuracy, facts);
  const std::vector<PathCounts> paths = count_paths(accuracy, tiling, seq_kv, keys);
  const RowTerms terms = row_terms(accuracy, facts, paths);
  const std::vector<double> own = squares_of_weights(accuracy, facts, terms);
  std::vector<double> sums = deviation_by_depth(facts, paths);
  if (accuracy.ordered_sums) {
    if (facts.has_sink()) keys.pop_back();
    const std::vector<double> squares = squares_of_rounded_sums(
        accuracy, facts, terms, evaluation_order(accuracy, tiling, seq_kv, keys));
    for (std::size_t c = 0; c < columns; ++c) sums[c] = std::min(sums[c], std::sqrt(squares[c]));
  }
  const double u = accuracy.format.unit_roundoff;
  const double row_sum = u * std::sqrt(static_cast<double>(facts.keys.size()));
  const double last = u + (accuracy.output_format ? accuracy.output_format->unit_roundoff : 0);
  const double underflow =
      product_underflow(accuracy) +
      (accuracy.output_format ? accuracy.output_format->rounding_underflow : 0);
  const double moved = grid_error(accuracy, facts);
  const double largest = largest_value(facts);
  std::vector<double> probable(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    const double output = std::abs(facts.output[c].high);
    probable[c] = lambda * (std::sqrt(own[c]) + u * sums[c] + row_sum * output) +
                  2 * last * output + underflow + moved * (largest + output);
  }
  return probable;
}

}  // namespace attest
