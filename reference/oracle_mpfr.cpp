#include <gmp.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/finite.hpp"
#include "reference/interval_row.hpp"
#include "reference/oracle.hpp"
#include "reference/precision.hpp"

namespace attest::reference {
namespace {

/// The facts of a row without its values.
std::optional<RowFacts> enclose_without_values(const Row& row, int bits) {
  free_cache_at_thread_end();
  if (row.empty()) return empty_row_facts(row);
  if (!has_finite_terms(row)) return std::nullopt;
  return with_precision(bits,
                        [&](auto constant) { return evaluate_row<constant(), Outward>(row); });
}

void append_sink_value(const Row& row, RowFacts& facts) {
  if (row.sink) facts.value.insert(facts.value.end(), facts.output.size(), 0.0);
}

template <int Bits>
std::optional<SummaryFacts> summarise(const Row& row, double row_max) {
  using Number = Interval<Bits>;
  auto scored = score_row<Bits, Outward>(row);
  if (!scored) return std::nullopt;
  const Number score_max = largest(scored->scores);
  const Weights<Bits, Outward> weights = weigh(std::move(scored->scores), Number(row_max));
  SummaryFacts facts;
  facts.row_max = to_enclosure<Bits>(score_max);
  facts.row_sum = to_enclosure<Bits>(weights.sum);
  ProductSum<Bits> sums;
  facts.numerator.reserve(static_cast<std::size_t>(row.head_dim_v));
  for (Index c = 0; c < row.head_dim_v; ++c)
    facts.numerator.push_back(to_enclosure<Bits>(
        numerator<Bits, Outward>(row, weights, static_cast<std::size_t>(c), sums)));
  if (!is_finite(facts.row_max) || !is_finite(facts.row_sum) ||
      !std::all_of(facts.numerator.begin(), facts.numerator.end(), is_finite))
    return std::nullopt;
  return facts;
}

}  // namespace

std::optional<RowFacts> enclose_row(const Inputs& inputs, const RowIndex& index, int bits) {
  std::optional<Row> row = read_row(inputs, index);
  if (!row) return std::nullopt;
  std::optional<RowFacts> facts = enclose_without_values(*row, bits);
  if (!facts) return std::nullopt;
  facts->value = std::move(row->v);
  append_sink_value(*row, *facts);
  return facts;
}

std::optional<RowFacts> enclose_row(const Row& row, int bits) {
  std::optional<RowFacts> facts = enclose_without_values(row, bits);
  if (!facts) return std::nullopt;
  facts->value = row.v;
  append_sink_value(row, *facts);
  return facts;
}

std::optional<SummaryFacts> enclose_summary(const Row& row, double row_max, int bits) {
  free_cache_at_thread_end();
  if (!std::isfinite(row_max)) return std::nullopt;
  if (row.empty()) {
    SummaryFacts facts;
    facts.row_max.high = -std::numeric_limits<double>::infinity();
    facts.numerator.assign(static_cast<std::size_t>(row.head_dim_v), Enclosure{});
    return facts;
  }
  if (!has_finite_terms(row)) return std::nullopt;
  return with_precision(bits, [&](auto constant) { return summarise<constant()>(row, row_max); });
}

std::vector<std::pair<std::string, std::string>> oracle_versions() {
  return {{"mpfr", mpfr_get_version()}, {"gmp", gmp_version}};
}

}  // namespace attest::reference
