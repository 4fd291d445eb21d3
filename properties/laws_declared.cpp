// assume.*: NaN and infinities are not optimised away (A1), and exp and log keep the error that
// the kernel declares (A3), on rows where little else can hide it.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attest/random.hpp"
#include "properties/combine.hpp"
#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/probe.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// One key of one kv head.
struct KeyPlace {
  Index b = 0;
  Index kv_head = 0;
  Index key = 0;
};

/// A key that some row sees; which one depends on the seed. Nothing when no row sees a key.
std::optional<KeyPlace> some_visible_key(const Case& on) {
  std::vector<std::pair<RowIndex, std::vector<Index>>> rows;
  for_each_row(on.problem, [&](const RowIndex& row) {
    auto keys = reference::visible_keys(on.problem, row.batch, row.query);
    if (!keys.empty()) rows.emplace_back(row, std::move(keys));
  });
  if (rows.empty()) return std::nullopt;
  SplitMix64 random(seed_of(on));
  const auto& [row, keys] = rows[random.below(rows.size())];
  return KeyPlace{row.batch, on.problem.kv_head(row.head), keys[random.below(keys.size())]};
}

/// What one special value must do to the rows that see it; all other elements keep their bits.
struct Special {
  Tensor Case::*tensor;
  Index column;
  double value;
};

Verdict shows(const Kernel& kernel, const Case& clean, const Outputs& before, const KeyPlace& at,
              const Special& special) {
  Case changed = clean;
  Tensor& tensor = changed.*special.tensor;
  tensor.set(at.b, at.kv_head, at.key, special.column, special.value);
  // A type without infinities has a NaN in their place.
  const double value = tensor.get(at.b, at.kv_head, at.key, special.column);
  becomes_literal(changed);
  const Outputs after = run_kernel(kernel, changed);
  if (const auto verdict = stopped(after, changed)) return *verdict;
  const Problem& problem = clean.problem;
  const bool in_scores = special.tensor == &Case::k;
  Tally tally;
  const auto compare = [&](const Place& place, double got, double was, bool affected) {
    if (!affected)
      tally.same_bits(place, got, was, "a value of a key that the row does not use shows");
    else if (std::isnan(value))
      tally.holds(std::isnan(got), place, got, value, "a NaN does not show");
    else if (std::isfinite(was))
      tally.holds(got == value, place, got, value, "an infinity does not show");
  };
  for_each_row(problem, [&](const RowIndex& row) {
    const auto [b, h, query] = row;
    const bool sees =
        b == at.b && problem.kv_head(h) == at.kv_head && visible(problem, b, query, at.key);
    for (Index c = 0; c < problem.head_dim_v; ++c)
      compare({"out", row, c}, after.out.get(b, h, query, c), before.out.get(b, h, query, c),
              sees && (in_scores || c == special.column));
    if (before.has_lse())
      compare({"lse", row}, after.lse_at(row), before.lse_at(row), sees && in_scores);
    tally.end_row();
  });
  return tally.verdict();
}

/// x with at most `bits` significant bits.
double rounded_to(double x, int bits) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, bits)), exponent - bits);
}

/// Distances of two scores: tiny, ordinary, and beside multiples of ln 2 where exp reduces its
/// argument, up to `most`; 20 bits.
double draw_distance(SplitMix64& random, double most) {
  const double uniform = static_cast<double>(random.next() >> 11) * 0x1p-53;
  switch (random.below(4)) {
    case 0:
      return rounded_to(std::ldexp(1 + uniform, -1 - static_cast<int>(random.below(26))), 20);
    case 1: {
      const double multiple = 0.5 * std::floor(2 * uniform * most / std::numbers::ln2);
      return rounded_to(std::max(multiple, 0.5) * std::numbers::ln2, 20);
    }
    case 2:
      return rounded_to(2 * uniform, 20);
    default:
      return rounded_to(most * uniform, 20);
  }
}

bool sees_no_key(const Problem& problem) {
  bool none = true;
  for_each_row(problem, [&](const RowIndex& row) {
    none = none && reference::visible_keys(problem, row.batch, row.query).empty();
  });
  return none;
}

/// Two visible keys with the scores 0 and -x, values (0, 1) and (1, 0): outputs exp(-x) / (1 +
/// exp(-x)) and 1 / (1 + exp(-x)).
Case exp_probe(const Kernel& kernel, const Case& on) {
  SplitMix64 random(seed_of(on));
  const bool bits_fit =
      kernel.description().capabilities.mask_bits && on.problem.seq_kv > 2 && on.problem.seq_q > 0;
  const Index keys = bits_fit ? on.problem.seq_kv : 2;
  const auto n = static_cast<std::uint64_t>(keys);
  const auto far = static_cast<Index>(random.below(n));
  const auto top =
      static_cast<Index>((static_cast<std::uint64_t>(far) + 1 + random.below(n - 1)) % n);
  Case probe = blank_probe(kernel, on, keys, 2);
  Problem& problem = probe.problem;
  if (bits_fit) {
    MaskBits bits{1, keys, {}};
    for (Index key = 0; key < keys; ++key) bits.visible.push_back(key == far || key == top);
    problem.mask.bits = std::move(bits);
  }
  // Down to where f32 underflows; for f64 as far as the enclosure has digits.
  const double most = problem.dtype == Dtype::f32 ? 52 : 300;
  std::vector<double> distances;
  distances.reserve(static_cast<std::size_t>(problem.batch * problem.heads_kv));
  for (Index i = 0; i < problem.batch * problem.heads_kv; ++i)
    distances.push_back(draw_distance(random, most));
  set_scores(
      probe,
      [](Index, Index, Index query, Index) {
        return std::ldexp(1.0, 1 - static_cast<int>(query % 3));
      },
      [&, heads_kv = problem.heads_kv](Index b, Index h, Index key, Index) {
        if (key == far) return -distances[static_cast<std::size_t>(b * heads_kv + h)];
        return key == top ? 0.0 : 3.0;
      });
  return with_values(std::move(probe), &Case::v, [&](Index, Index, Index key, Index c) {
    if (key == far) return c == 0 ? 1.0 : 0.0;
    return key == top ? static_cast<double>(c) : 7.0;
  });
}

/// Bound of the two outputs of exp_probe: the weight of the far key is off by a factor 1 + t,
/// |t| <= eps, or by eta; everything else is one addition, the division and the last rounding. The
/// share of a key answers to the log of a weight with the share of the other key.
RowBound exp_probe_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts) {
  const Format& format = accuracy.format;
  const double eps = -std::log1p(-accuracy.exp_relative_error);
  const double roundings =
      static_cast<double>(1 + accuracy.division_roundings) * format.unit_roundoff -
      std::log1p(-accuracy.reciprocal_relative_error);
  RowBound bound;
  bound.lse = kInfinity;
  for (std::size_t c = 0; c < 2; ++c) {
    const double own = facts.output[c].high;
    const double other = facts.output[1 - c].high;
    double limit = own * std::expm1(other * std::exp(eps) * eps + roundings);
    if (std::min(own, other) < 4 * format.min_normal) {
      limit += 2 * (accuracy.exp_absolute_error + format.rounding_underflow);
      if (accuracy.underflow != Underflow::gradual) limit += 2 * format.min_normal;
    }
    // Values are 0 and 1: numerator and row_sum may each lack as much, and row_sum is at least 1.
    if (accuracy.grid_bits > 0) {
      const auto n = static_cast<double>(facts.keys.size());
      limit += std::ldexp(2.5 * n * n, static_cast<int>(-accuracy.grid_bits));
    }
    if (accuracy.output_format) {
      const Format& last = *accuracy.output_format;
      limit +=
          last.unit_roundoff * (own + limit) +
          (accuracy.underflow == Underflow::gradual ? last.rounding_underflow : last.min_normal);
    }
    bound.output.push_back(limit * (1 + 0x1p-40));
  }
  return bound;
}

}  // namespace

Verdict assume_special_values(const Kernel& kernel, const Case& on) {
  // All weights are equal: what is added to scores, or beside them, could make a weight 0.
  Case clean = plain_scores(densely_stored(forward_only(on)));
  clean = with_values(std::move(clean), &Case::q, [](Index, Index, Index, Index) { return 0.0; });
  clean.problem.all_masked = AllMaskedPolicy::zero;
  const Outputs before = run_kernel(kernel, clean);
  if (const auto verdict = stopped(before, clean)) return *verdict;
  const std::optional<KeyPlace> at = some_visible_key(clean);
  if (!at) return Verdict::weak("there was nothing to compare");
  const auto pick = [&](Index columns) {
    return static_cast<Index>(seed_of(on) % static_cast<std::uint64_t>(columns));
  };
  const Index value_column = pick(on.problem.head_dim_v);
  Combined combined;
  for (const Special& special :
       {Special{&Case::v, value_column, kNan}, Special{&Case::v, value_column, kInfinity},
        Special{&Case::v, value_column, -kInfinity},
        Special{&Case::k, pick(on.problem.head_dim), kNan}})
    combined.add(shows(kernel, clean, before, *at, special));
  return combined.verdict();
}

Verdict assume_exp_error(const Kernel& kernel, const Case& on) {
  const Case probe = exp_probe(kernel, on);
  const DeclaredAccuracy accuracy = kernel.accuracy(probe.problem);
  if (!keeps_exact_scores(accuracy, on.problem.head_dim))
    return Verdict::skipped("the kernel declares scores or exponents that are rounded");
  if (accuracy.weight_cast) return Verdict::skipped("the kernel declares rounded weights");
  const Outputs outputs = run_kernel(kernel, probe);
  if (const auto verdict = stopped(outputs, probe)) return *verdict;
  Tally tally;
  for_each_row(probe.problem, [&](const RowIndex& row) {
    const auto exact = reference::certify_row(inputs_of(probe), row, [&](const RowFacts& facts) {
      return exp_probe_bound(accuracy, facts);
    });
    if (!exact) {
      tally.undecided("a visible input is not finite");
      return;
    }
    judge_row(tally, *exact, row, Part::out, outputs);
  });
  return tally.verdict();
}

Verdict assume_log_error(const Kernel& kernel, const Case& on) {
  Case probe = plain_scores(densely_stored(forward_only(on)));
  const auto zero = [](Index, Index, Index, Index) { return 0.0; };
  for (const auto tensor : {&Case::q, &Case::k, &Case::v})
    probe = with_values(std::move(probe), tensor, zero);
  probe.problem.all_masked = AllMaskedPolicy::zero;
  probe.problem.lse = LseForm::natural;
  if (sees_no_key(probe.problem)) probe.problem.mask = {};
  const DeclaredAccuracy accuracy = kernel.accuracy(probe.problem);
  if (!(accuracy.format == format_of(on.problem.compute_dtype())))
    return Verdict::skipped("the kernel declares another format than that of the dtype");
  const Outputs outputs = run_kernel(kernel, probe);
  if (const auto verdict = stopped(outputs, probe)) return *verdict;
  Tally tally;
  for_each_row(probe.problem, [&](const RowIndex& row) {
    const auto keys = reference::visible_keys(probe.problem, row.batch, row.query);
    if (keys.empty()) return;
    const double got = outputs.lse_at(row);
    if (keys.size() == 1) {
      tally.holds(std::abs(got) <= accuracy.log_absolute_error, {"lse", row}, got, 0,
                  "the logarithm of 1 is not 0");
      tally.end_row();
      return;
    }
    // Weights, their sum and the maximum are exact: what is left is the logarithm, and one
    // rounding of the addition or of a change of base.
    const auto exact = reference::certify_row(inputs_of(probe), row, [&](const RowFacts& facts) {
      RowBound bound;
      bound.output.assign(facts.output.size(), kInfinity);
      bound.lse = (accuracy.log_relative_error + accuracy.format.unit_roundoff) * facts.lse.high *
                      (1 + 0x1p-40) +
                  accuracy.log_absolute_error;
      return bound;
    });
    if (!exact) {
      tally.undecided("a visible input is not finite");
      return;
    }
    judge_row(tally, *exact, row, Part::lse, outputs);
  });
  return tally.verdict();
}

}  // namespace attest::properties
