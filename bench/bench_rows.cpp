#include "bench/bench_rows.hpp"

#include <cmath>
#include <map>
#include <random>

#include "bench/point_mpfr.hpp"
#include "reference/oracle.hpp"
#include "reference/oracle_fast.hpp"

namespace attest::bench {
namespace {

reference::Row draw(Index n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::normal_distribution<float> normal;
  const auto fill = [&](std::vector<double>& list, Index count) {
    for (Index i = 0; i < count; ++i) list.push_back(static_cast<double>(normal(random)));
  };
  reference::Row row;
  row.head_dim = row.head_dim_v = kHeadDim;
  row.scale = 0.125;
  row.exact_products = true;
  for (Index j = 0; j < n; ++j) row.keys.push_back(j);
  fill(row.q, kHeadDim);
  fill(row.k, n * kHeadDim);
  fill(row.v, n * kHeadDim);
  return row;
}

enum class Judged { pass, fail, cannot_tell };

Judged judge(const Enclosure& exact, double value, double bound) {
  if (exact.distance_upper(value) <= bound) return Judged::pass;
  return exact.distance_lower(value) > bound ? Judged::fail : Judged::cannot_tell;
}

/// Values on both sides of every edge of the bound, the nearest within a share of 2^-20 of it.
bool same_verdicts(const Enclosure& left, const Enclosure& right) {
  const double bound = 0x1p-24 * std::abs(right.high);
  for (const double share : {0.0, 0.5, 1 - 0x1p-20, 1 + 0x1p-20, 2.0})
    for (const double sign : {-1.0, 1.0}) {
      const double value = right.high + sign * share * bound;
      if (judge(left, value, bound) != judge(right, value, bound)) return false;
    }
  return true;
}

bool agree(const Enclosure& fast, const Enclosure& slow, double raw, double boost) {
  const double apart = std::abs((fast.high - slow.high) + (fast.low - slow.low));
  return apart <= (fast.radius + slow.radius) * (1 + 0x1p-50) && same_verdicts(fast, slow) &&
         raw == boost && slow.distance_lower(raw) <= 0x1p-53 * std::abs(raw);
}

}  // namespace

const reference::Row& bench_row(Index n) {
  static std::map<Index, reference::Row> rows;
  const auto found = rows.find(n);
  return found != rows.end() ? found->second : rows.emplace(n, draw(n)).first->second;
}

std::string disagreement(Index n) {
  const reference::Row& row = bench_row(n);
  const auto fast = reference::enclose_row_fast(row);
  const auto slow = reference::enclose_row(row, 128);
  if (!fast || !slow) return "a method cannot decide";
  const PointRow raw = point_raw_mpfr_256(row);
  const PointRow boost = point_boost_mpfr_256(row);
  for (std::size_t c = 0; c < raw.output.size(); ++c)
    if (!agree(fast->output[c], slow->output[c], raw.output[c], boost.output[c]))
      return "output " + std::to_string(c) + " differs";
  if (!agree(fast->lse, slow->lse, raw.lse, boost.lse)) return "lse differs";
  return {};
}

}  // namespace attest::bench
