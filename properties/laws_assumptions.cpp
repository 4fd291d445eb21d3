// assume.*: what the bounds take for granted (A1 to A6 of docs/numerics.md), asked of the kernel
// itself. The probes leave nothing to round, or one rounding whose result is known, so that the
// comparison is exact.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/probe.hpp"

namespace attest::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Equal numbers; +0 and -0 are equal, for 0 + (-0) is +0.
void equals(Tally& tally, const Place& place, double got, double want, std::string_view reason) {
  tally.holds(got == want, place, got, want, reason);
}

/// Judges out(row, column) of a probe by want(row, column).
template <class Want>
Verdict exact_outputs(const Kernel& kernel, const Case& probe, Want&& want, std::string_view reason,
                      std::optional<double> want_lse = {}) {
  const Outputs outputs = run_kernel(kernel, probe);
  if (const auto verdict = stopped(outputs, probe)) return *verdict;
  const DeclaredAccuracy accuracy = kernel.accuracy(probe.problem);
  Tally tally;
  for_each_row(probe.problem, [&](const RowIndex& row) {
    for (Index c = 0; c < probe.problem.head_dim_v; ++c)
      holds_exactly(tally, accuracy, {{"out", row, c}, outputs.at(row, c), want(row, c)}, reason);
    if (want_lse && outputs.has_lse())
      equals(tally, {"lse", row}, outputs.lse.get(row.batch, row.head, row.query, 0), *want_lse,
             reason);
    tally.end_row();
  });
  return tally.verdict();
}

/// Two values and their sum, rounded to nearest, ties to even; u is half an ulp of 1.
struct RoundedSum {
  double left, right, sum;
};
std::array<RoundedSum, 10> rounded_sums(double u) {
  return {{{1, u, 1},
           {1 + 2 * u, u, 1 + 4 * u},
           {1 + 2 * u, 3 * u, 1 + 4 * u},
           {1, u * (1 + 2 * u), 1 + 2 * u},
           {1 + 2 * u, u * (1 - u), 1 + 2 * u},
           {1, u / 2, 1},
           {1, -u / 2, 1},
           {1 - u, -u / 2, 1 - 2 * u},
           {1, -u / 2 * (1 + 2 * u), 1 - u},
           {1, -u / 4, 1}}};
}

/// Two different keys of `keys`, elsewhere for every column.
struct TwoKeys {
  Index left, right;
};
TwoKeys two_keys(Index keys, Index column, std::uint64_t seed) {
  const auto n = static_cast<std::uint64_t>(keys);
  const auto c = static_cast<std::uint64_t>(column);
  const std::uint64_t left = (seed + 3 * c) % n;
  return {static_cast<Index>(left), static_cast<Index>((left + 1 + (seed / n + c) % (n - 1)) % n)};
}

}  // namespace

Verdict assume_exp_of_zero(const Kernel& kernel, const Case& on) {
  const std::uint64_t seed = seed_of(on);
  const bool bits_fit =
      kernel.description().capabilities.mask_bits && on.problem.seq_kv > 1 && on.problem.seq_q > 0;
  const Index keys = bits_fit ? on.problem.seq_kv : 1;
  const auto seen = static_cast<Index>(seed % static_cast<std::uint64_t>(keys));
  const Format format = format_of(probe_dtype(kernel, on));
  const double u = format.unit_roundoff;
  const std::array<double, 8> values{
      1, 1 + 2 * u, 1 - u, -3, std::ldexp(1 + 4 * u, 100), format.min_normal, -0.0, -0x1.555554p-2};
  Case probe = blank_probe(kernel, on, keys, static_cast<Index>(values.size()));
  const DeclaredAccuracy accuracy = kernel.accuracy(probe.problem);
  if (auto verdict = rounds_exact_results(accuracy, probe.problem.dtype)) return *verdict;
  if (bits_fit) {
    MaskBits bits{1, keys, {}};
    for (Index key = 0; key < keys; ++key) bits.visible.push_back(key == seen);
    probe.problem.mask.bits = std::move(bits);
  }
  probe = with_values(std::move(probe), &Case::v, [&](Index b, Index h, Index key, Index c) {
    return key == seen ? values[static_cast<std::size_t>(b + h + c) % values.size()] : 7.0;
  });
  if (keeps_exact_scores(accuracy, on.problem.head_dim)) {
    constexpr std::array<double, 8> scores{0, 1, -3, 88, -1000, 0x1p20, -0x1.8p-20, 0x1.23p-2};
    set_scores(
        probe,
        [](Index, Index, Index query, Index) {
          return std::ldexp(query % 2 == 0 ? 1.0 : -1.0, static_cast<int>(query % 3));
        },
        [&](Index b, Index h, Index key, Index) {
          return key == seen ? scores[(static_cast<std::uint64_t>(b + h) + seed) % scores.size()]
                             : 5.0;
        });
  }
  const Outputs outputs = run_kernel(kernel, probe);
  if (const auto verdict = stopped(outputs, probe)) return *verdict;
  Tally tally;
  for_each_row(probe.problem, [&](const RowIndex& row) {
    const auto [b, h, query] = row;
    const Index kv_head = probe.problem.kv_head(h);
    for (Index c = 0; c < probe.problem.head_dim_v; ++c)
      holds_exactly(tally, accuracy,
                    {{"out", row, c}, outputs.at(row, c), probe.v.get(b, kv_head, seen, c)},
                    "the only visible key does not give its value");
    if (outputs.has_lse() && accuracy.log_absolute_error == 0)
      equals(tally, {"lse", row}, outputs.lse.get(b, h, query, 0),
             probe.q.get(b, h, query, 0) * probe.k.get(b, kv_head, seen, 0),
             "the only visible key does not give its score");
    tally.end_row();
  });
  return tally.verdict();
}

Verdict assume_exp_of_minus_infinity(const Kernel& kernel, const Case& on) {
  const std::uint64_t seed = seed_of(on);
  const Index keys = power_of_two_keys(on);
  Case probe = blank_probe(kernel, on, keys, 2);
  if (auto verdict = rounds_exact_results(kernel.accuracy(probe.problem), probe.problem.dtype))
    return *verdict;
  // Every second key, the first half or the last half, so that whole tiles are without weight.
  const auto weighs = [&](Index b, Index kv_head, Index key) {
    switch ((static_cast<std::uint64_t>(b + kv_head) + seed) % 3) {
      case 0:
        return key % 2 == 0;
      case 1:
        return key < keys / 2;
      default:
        return key >= keys / 2;
    }
  };
  const auto one = [](Index, Index, Index, Index) { return 1.0; };
  set_scores(probe, one, [&](Index b, Index h, Index key, Index) {
    return weighs(b, h, key) ? 0.0 : -kInfinity;
  });
  probe = with_values(std::move(probe), &Case::v, [&](Index b, Index h, Index key, Index c) {
    return weighs(b, h, key) ? static_cast<double>(key % 5 - 2 + c) : 0x1p100;
  });
  Verdict some = exact_outputs(
      kernel, probe,
      [&](const RowIndex& row, Index c) {
        const Index kv_head = probe.problem.kv_head(row.head);
        double sum = 0;
        for (Index key = 0; key < keys; ++key)
          if (weighs(row.batch, kv_head, key)) sum += probe.v.get(row.batch, kv_head, key, c);
        return sum / (static_cast<double>(keys) / 2);
      },
      "a score of -inf has weight");
  if (some.outcome != Outcome::ok) return some;
  set_scores(probe, one, [](Index, Index, Index, Index) { return -kInfinity; });
  return exact_outputs(
      kernel, probe, [](const RowIndex&, Index) { return 0.0; },
      "a row of which every score is -inf is not like a row without visible keys", -kInfinity);
}

Verdict assume_nearest_even(const Kernel& kernel, const Case& on) {
  const auto sums = rounded_sums(format_of(probe_dtype(kernel, on)).unit_roundoff);
  const auto columns = static_cast<Index>(2 * sums.size());
  const Index keys = power_of_two_keys(on);
  Case probe = blank_probe(kernel, on, keys, columns);
  const DeclaredAccuracy accuracy = kernel.accuracy(probe.problem);
  if (auto verdict = rounds_exact_results(accuracy, probe.problem.dtype)) return *verdict;
  if (accuracy.grid_bits > 0)
    return Verdict::skipped("the kernel declares terms that are rounded in place of sums");
  const auto sum_of = [&](Index column) { return sums[static_cast<std::size_t>(column / 2)]; };
  const auto sign = [](Index column) { return column % 2 == 0 ? 1.0 : -1.0; };
  probe = with_values(std::move(probe), &Case::v, [&](Index, Index, Index key, Index c) {
    const TwoKeys at = two_keys(keys, c, seed_of(on));
    if (key == at.left) return sign(c) * sum_of(c).left;
    return key == at.right ? sign(c) * sum_of(c).right : 0.0;
  });
  return exact_outputs(
      kernel, probe,
      [&](const RowIndex&, Index c) { return sign(c) * sum_of(c).sum / static_cast<double>(keys); },
      "the sum of two values is not rounded to nearest, ties to even");
}

Verdict assume_gradual_underflow(const Kernel& kernel, const Case& on) {
  const Format format = format_of(probe_dtype(kernel, on));
  const Index keys = power_of_two_keys(on);
  const auto n = static_cast<double>(keys);
  const double normal = format.min_normal;
  const double smallest = 2 * format.unit_roundoff * normal;
  Case probe = blank_probe(kernel, on, keys, 6);
  if (auto verdict = rounds_exact_results(kernel.accuracy(probe.problem), probe.problem.dtype))
    return *verdict;
  const std::array<double, 3> everywhere{smallest, -3 * smallest, normal / 2};
  const std::array<double, 3> left{n * smallest, -normal - n * smallest, n / 2 * normal};
  const std::array<double, 3> right{0, normal, 0};
  const std::array<double, 6> want{smallest, -3 * smallest, normal / 2,
                                   smallest, -smallest,     normal / 2};
  probe = with_values(std::move(probe), &Case::v, [&](Index, Index, Index key, Index c) {
    const auto column = static_cast<std::size_t>(c);
    if (column < everywhere.size()) return everywhere[column];
    const TwoKeys at = two_keys(keys, c, seed_of(on));
    if (key == at.left) return left[column - everywhere.size()];
    return key == at.right ? right[column - everywhere.size()] : 0.0;
  });
  return exact_outputs(
      kernel, probe, [&](const RowIndex&, Index c) { return want[static_cast<std::size_t>(c)]; },
      "a result below the normal range is not exact");
}

Verdict assume_large_scores(const Kernel& kernel, const Case& on) {
  const Index keys = power_of_two_keys(on);
  Case probe = blank_probe(kernel, on, keys, 2);
  const DeclaredAccuracy accuracy = kernel.accuracy(probe.problem);
  if (auto verdict = rounds_exact_results(accuracy, probe.problem.dtype)) return *verdict;
  if (accuracy.exp_form == ExpForm::folded_base_two)
    return Verdict::skipped("the kernel declares exponents whose error grows with the score");
  // An eighth of the range, so that A6 holds of the scores and of their differences.
  const double max_finite = std::min(accuracy.format.max_finite,
                                     accuracy.dot_format.value_or(accuracy.format).max_finite);
  const double large = std::ldexp(1.0, std::ilogb(max_finite) - 2);
  const auto sign = [](Index i) { return i % 2 == 0 ? 1.0 : -1.0; };
  // Some heads have keys of both signs, some have scores of one sign only, also all negative ones.
  const auto mixed = [&](Index b, Index kv_head) {
    return (static_cast<std::uint64_t>(b + kv_head) + seed_of(on)) % 2 == 0;
  };
  set_scores(
      probe, [&](Index, Index, Index query, Index) { return sign(query); },
      [&](Index b, Index h, Index key, Index) { return mixed(b, h) ? sign(key) * large : -large; });
  probe = with_values(std::move(probe), &Case::v, [](Index, Index, Index key, Index c) {
    return static_cast<double>(key % 5 - 2 + c);
  });
  const Outputs outputs = run_kernel(kernel, probe);
  if (const auto verdict = stopped(outputs, probe)) return *verdict;
  Tally tally;
  for_each_row(probe.problem, [&](const RowIndex& row) {
    const auto [b, h, query] = row;
    const Index kv_head = probe.problem.kv_head(h);
    const bool both_signs = mixed(b, kv_head);
    for (Index c = 0; c < 2; ++c) {
      double sum = 0;
      for (Index key = both_signs ? query % 2 : 0; key < keys; key += both_signs ? 2 : 1)
        sum += probe.v.get(b, kv_head, key, c);
      holds_exactly(tally, accuracy,
                    {{"out", row, c},
                     outputs.at(row, c),
                     sum / static_cast<double>(both_signs ? keys / 2 : keys)},
                    "large scores do not give the mean of the largest");
    }
    if (outputs.has_lse() && keeps_exact_scores(accuracy, on.problem.head_dim))
      equals(tally, {"lse", row}, outputs.lse.get(b, h, query, 0),
             both_signs ? large : -sign(query) * large,
             "the lse of large scores is not their maximum");
    tally.end_row();
  });
  return tally.verdict();
}

}  // namespace attest::properties
