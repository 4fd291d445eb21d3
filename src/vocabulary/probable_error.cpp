#include <cmath>

#include "row_terms.hpp"

namespace attest {

std::vector<double> probable_error(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                                   std::span<const PathCounts> paths, double lambda) {
  const std::size_t columns = facts.output.size();
  if (!precondition_failure(accuracy, facts).empty())
    return std::vector<double>(columns, std::numeric_limits<double>::infinity());
  const RowTerms terms = row_terms(accuracy, facts, paths);
  const double u = accuracy.format.unit_roundoff;
  const double cast = accuracy.weight_cast ? accuracy.weight_cast->format.unit_roundoff : 0;
  std::vector<double> squares(columns);
  std::vector<double> sums(columns);
  for (std::size_t j = 0; j < facts.keys.size(); ++j) {
    const double p = facts.probability[j];
    const double depth = std::sqrt(static_cast<double>(paths[j].additions + paths[j].rescales));
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = facts.value[j * columns + c];
      const double shared = p * terms.z[j] * (value - facts.output[c].high);
      squares[c] += p * p * value * value * cast * cast + shared * shared;
      sums[c] += p * std::abs(value) * depth;
    }
  }
  const double row_sum = u * std::sqrt(static_cast<double>(facts.keys.size()));
  const double rounding = accuracy.output_format ? accuracy.output_format->unit_roundoff : u;
  std::vector<double> probable(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    const double output = std::abs(facts.output[c].high);
    probable[c] = lambda * (std::sqrt(squares[c]) + u * sums[c] + row_sum * output) +
                  (rounding + u) * output + product_underflow(accuracy);
  }
  return probable;
}

}  // namespace attest
