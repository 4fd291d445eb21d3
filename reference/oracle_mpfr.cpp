#include <gmp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "reference/interval_row.hpp"
#include "reference/oracle.hpp"

namespace attest::reference {
namespace {

/// Calls `body` with the number of the ladder that is at least `bits`, as a constant.
template <class Body>
auto with_precision(int bits, Body&& body) {
  if (bits <= 128) return body(std::integral_constant<int, 128>{});
  if (bits <= 192) return body(std::integral_constant<int, 192>{});
  if (bits <= 384) return body(std::integral_constant<int, 384>{});
  return body(std::integral_constant<int, 768>{});
}

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
  std::vector<Number> scores = enclose_scores<Bits, Outward>(row);
  Number largest = scores.front();
  for (const Number& score : scores) {
    mpfr_max(largest.lower(), largest.lower(), score.lower(), MPFR_RNDN);  // exact: one of the two
    mpfr_max(largest.upper(), largest.upper(), score.upper(), MPFR_RNDN);
  }
  const Weights<Bits, Outward> weights = weigh<Bits, Outward>(std::move(scores), row_max);
  SummaryFacts facts;
  facts.row_max = to_enclosure<Bits>(largest);
  facts.row_sum = to_enclosure<Bits>(weights.sum);
  ProductSum<Bits> sums;
  for (Index c = 0; c < row.head_dim_v; ++c)
    facts.numerator.push_back(to_enclosure<Bits>(
        numerator<Bits, Outward>(row, weights, static_cast<std::size_t>(c), sums)));
  const auto finite = [](const Enclosure& enclosure) {
    return std::isfinite(enclosure.high) && std::isfinite(enclosure.radius);
  };
  if (!finite(facts.row_max) || !finite(facts.row_sum) ||
      !std::all_of(facts.numerator.begin(), facts.numerator.end(), finite))
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
