// symmetry.*, continued: changes of v that change the exact output in a known way.
#include <algorithm>
#include <cmath>
#include <vector>

#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

/// v cut to its leading bits, 8 or half of what the type has; the rest is exact.
double leading_bits(Dtype dtype, double value) {
  const int digits = -std::ilogb(format_of(dtype).unit_roundoff);
  const double kept = std::ldexp(1.0, std::min(8, digits / 2));
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::trunc(mantissa * kept) / kept, exponent);
}

double clamped_exponent(double value, int limit) {
  if (value == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(value), &exponent);
  return std::ldexp(mantissa, std::clamp(exponent, -limit, limit));
}

/// Exponents up to which values of a type, and 32 times them, are normal numbers.
int largest_exponent(Dtype dtype) {
  const Format format = format_of(dtype);
  return std::min({19, -std::ilogb(format.min_normal) - 3, std::ilogb(format.max_finite) - 5});
}

/// The factor of the v of one (batch, kv head) pair.
double value_factor(const Problem& problem, Index b, Index kv_head) {
  if (!problem.descales) return 1;
  const std::vector<double>& factors = problem.descales->v;
  return factors.size() == 1 ? factors.front()
                             : factors[static_cast<std::size_t>(b * problem.heads_kv + kv_head)];
}

}  // namespace

Verdict symmetry_constant_values(const Kernel& kernel, const Case& given) {
  constexpr double kConstant = 3;
  const Case on = plain_empty_rows(without_sink(given));
  const Case constant =
      with_values(on, &Case::v, [](Index, Index, Index, Index) { return kConstant; });
  const Outputs outputs = run_kernel(kernel, constant);
  if (const auto verdict = stopped(outputs, constant)) return *verdict;
  const Truth truth(kernel, constant);
  Tally tally;
  for_each_row(on.problem, [&](const RowIndex& row) {
    const auto exact = truth.row(row);
    if (!exact || !exact->bound.proven()) {
      tally.undecided(exact ? exact->bound.unproven : "a visible input is not finite");
      return;
    }
    const double constant_there =
        kConstant * value_factor(on.problem, row.batch, on.problem.kv_head(row.head));
    const Enclosure want{exact->facts.keys.empty() ? 0 : constant_there, 0, 0};
    for (Index c = 0; c < on.problem.head_dim_v; ++c)
      tally.within({"out", row, c}, outputs.out.get(row.batch, row.head, row.query, c), want,
                   exact->bound.output[static_cast<std::size_t>(c)],
                   informative_output(*exact, static_cast<std::size_t>(c)));
    tally.end_row();
  });
  return tally.verdict();
}

Verdict symmetry_linear_values(const Kernel& kernel, const Case& given) {
  // Where v is in the scores, too, they are not the same for its parts.
  const Case on = plain_empty_rows(without_qv(densely_stored(given)));
  const auto value_of = [&](Index b, Index h, Index row, Index column) {
    return on.v.get(b, h, row, column);
  };
  const Case high = with_values(on, &Case::v, [&](Index b, Index h, Index row, Index column) {
    return leading_bits(on.v.dtype(), value_of(b, h, row, column));
  });
  const Case low = with_values(on, &Case::v, [&](Index b, Index h, Index row, Index column) {
    const double value = value_of(b, h, row, column);
    return value - leading_bits(on.v.dtype(), value);
  });
  const Outputs whole_outputs = run_kernel(kernel, on);
  if (const auto verdict = stopped(whole_outputs, on)) return *verdict;
  const Outputs high_outputs = run_kernel(kernel, high);
  if (const auto verdict = stopped(high_outputs, high)) return *verdict;
  const Outputs low_outputs = run_kernel(kernel, low);
  if (const auto verdict = stopped(low_outputs, low)) return *verdict;
  const Truth truth(kernel, on);
  const Truth high_truth(kernel, high);
  const Truth low_truth(kernel, low);
  Tally tally;
  for_each_row(on.problem, [&](const RowIndex& row) {
    const auto exact = truth.row(row);
    const auto high_exact = high_truth.row(row);
    const auto low_exact = low_truth.row(row);
    if (!exact || !high_exact || !low_exact || !exact->bound.proven() ||
        !high_exact->bound.proven() || !low_exact->bound.proven()) {
      tally.undecided("a row has no bound");
      return;
    }
    const auto [b, h, query] = row;
    for (Index c = 0; c < on.problem.head_dim_v; ++c) {
      const auto column = static_cast<std::size_t>(c);
      const double parts =
          high_outputs.out.get(b, h, query, c) + low_outputs.out.get(b, h, query, c);
      const double bound = exact->bound.output[column] + high_exact->bound.output[column] +
                           low_exact->bound.output[column] + 0x1p-53 * std::abs(parts);
      tally.agree({"out", row, c}, whole_outputs.out.get(b, h, query, c), parts, bound,
                  informative_output(*exact, column));
    }
    tally.end_row();
  });
  return tally.verdict();
}

Verdict symmetry_convex_hull(const Kernel& kernel, const Case& given) {
  const Case on = plain_empty_rows(given);
  const Outputs outputs = run_kernel(kernel, on);
  if (const auto verdict = stopped(outputs, on)) return *verdict;
  const Truth truth(kernel, on);
  Tally tally;
  for_each_row(on.problem, [&](const RowIndex& row) {
    const auto exact = truth.row(row);
    if (!exact || !exact->bound.proven()) {
      tally.undecided(exact ? exact->bound.unproven : "a visible input is not finite");
      return;
    }
    if (exact->facts.keys.empty()) return;
    const std::size_t columns = exact->facts.output.size();
    for (std::size_t c = 0; c < columns; ++c) {
      double least = exact->facts.value[c];
      double largest = least;
      for (std::size_t j = 0; j < exact->facts.keys.size(); ++j) {
        least = std::min(least, exact->facts.value[j * columns + c]);
        largest = std::max(largest, exact->facts.value[j * columns + c]);
      }
      const auto column = static_cast<Index>(c);
      const double got = outputs.out.get(row.batch, row.head, row.query, column);
      const double nearest = std::isnan(got) ? largest : std::clamp(got, least, largest);
      tally.agree({"out", row, column}, got, nearest, exact->bound.output[c],
                  informative_output(*exact, c));
    }
    tally.end_row();
  });
  return tally.verdict();
}

Verdict symmetry_power_of_two_values(const Kernel& kernel, const Case& given) {
  // Exact only without underflow: values of one sign between 2^-20 and 2^20 (less for narrow
  // types), scores within 20 of each other, so that every product and every partial sum is a normal
  // number.
  constexpr int kExponent = 5;
  const Case on = without_descales(plain_scores(plain_empty_rows(densely_stored(given))));
  const int limit =
      std::min(largest_exponent(on.problem.v_dtype()), largest_exponent(on.problem.out_dtype()));
  double largest = 0;
  const double scale = std::abs(scale_value(on.problem));
  for_each_row(on.problem, [&](const RowIndex& row) {
    for (Index key = 0; key < on.problem.key_length(row.batch); ++key) {
      if (!visible(on.problem, row.batch, row.query, key)) continue;
      double magnitude = 0;
      for (Index c = 0; c < on.problem.head_dim; ++c)
        magnitude += std::abs(on.q.get(row.batch, row.head, row.query, c) *
                              on.k.get(row.batch, on.problem.kv_head(row.head), key, c));
      largest = std::max(largest, scale * magnitude);
    }
  });
  if (!std::isfinite(largest))
    return Verdict::of(Outcome::unproven, "a visible score is not finite");
  const int shrink = largest > 10 ? std::ilogb(largest / 10) + 1 : 0;
  Case plain = with_values(on, &Case::q, [&](Index b, Index h, Index row, Index column) {
    return std::ldexp(on.q.get(b, h, row, column), -shrink);
  });
  plain = with_values(std::move(plain), &Case::v, [&](Index b, Index h, Index row, Index column) {
    return clamped_exponent(on.v.get(b, h, row, column), limit);
  });
  const Case scaled = with_values(plain, &Case::v, [&](Index b, Index h, Index row, Index column) {
    return std::ldexp(plain.v.get(b, h, row, column), kExponent);
  });
  const Outputs plain_outputs = run_kernel(kernel, plain);
  if (const auto verdict = stopped(plain_outputs, plain)) return *verdict;
  const Outputs scaled_outputs = run_kernel(kernel, scaled);
  if (const auto verdict = stopped(scaled_outputs, scaled)) return *verdict;
  Tally tally;
  for_each_row(on.problem, [&](const RowIndex& row) {
    const auto [b, h, query] = row;
    for (Index c = 0; c < on.problem.head_dim_v; ++c)
      tally.same_bits({"out", row, c}, scaled_outputs.out.get(b, h, query, c),
                      std::ldexp(plain_outputs.out.get(b, h, query, c), kExponent),
                      "v was multiplied by 32");
    for (Index c = 0; plain_outputs.has_lse() && c < plain_outputs.lse.extents()[3]; ++c)
      tally.same_bits({"lse", row, c}, scaled_outputs.lse.get(b, h, query, c),
                      plain_outputs.lse.get(b, h, query, c), "v was multiplied by 32");
    tally.end_row();
  });
  return tally.verdict();
}

}  // namespace attest::properties
