#include "properties/values.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "attest/random.hpp"
#include "properties/draw.hpp"

namespace attest::properties {
namespace {

/// Random numbers made of integers only, so that a seed gives the same values everywhere.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : random_(seed) {}

  double uniform() { return properties::uniform(random_); }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal() { return properties::normal(random_); }
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  double sign() { return below(2) == 0 ? 1 : -1; }
  double power_of_two(int low, int high) {
    return std::ldexp(1.0,
                      low + static_cast<int>(below(static_cast<std::uint64_t>(high - low) + 1)));
  }

 private:
  SplitMix64 random_;
};

/// The number of a type that is nearest to `value`, a finite one always.
double finite(Dtype dtype, double value) {
  const double most = format_of(dtype).max_finite;
  return std::clamp(value, -most, most);
}

Tensor finite_filled(Dtype dtype, const Extents& extents, const ElementRule& element) {
  return filled(dtype, extents, [&](Index b, Index h, Index row, Index column) {
    return finite(dtype, element(b, h, row, column));
  });
}

void fill_q(Case& c, const ElementRule& element) {
  c.q = finite_filled(c.problem.dtype, c.problem.q_extents(), element);
}
void fill_k(Case& c, const ElementRule& element) {
  c.k = finite_filled(c.problem.k_dtype(), c.problem.k_extents(), element);
}
void fill_v(Case& c, const ElementRule& element) {
  c.v = finite_filled(c.problem.v_dtype(), c.problem.v_extents(), element);
}

void fill_normal(Case& c, Numbers& numbers) {
  const auto normal = [&](Index, Index, Index, Index) { return numbers.normal(); };
  fill_q(c, normal);
  fill_k(c, normal);
  fill_v(c, normal);
}

void fill_whole(Case& c, Numbers& numbers) {
  const auto whole = [&](Index, Index, Index, Index) {
    return static_cast<double>(numbers.below(7)) - 3;
  };
  fill_q(c, whole);
  fill_k(c, whole);
  fill_v(c, whole);
}

/// Scores close to target(key); `noise` is the size of the other columns of q.
void shape_scores(Case& c, Numbers& numbers, double noise,
                  const std::function<double(Index)>& target) {
  fill_normal(c, numbers);
  fill_q(c, [&](Index, Index, Index, Index column) {
    return column == 0 ? 1.0 : noise * numbers.normal();
  });
  const double scale = scale_value(c.problem) == 0 ? 1 : scale_value(c.problem);
  for_each_index(c.problem.k_extents(), [&](Index b, Index h, Index key, Index column) {
    if (column == 0) c.k.set(b, h, key, 0, finite(c.k.dtype(), target(key) / scale));
  });
}

void fill_ascending(Case& c, Numbers& numbers) {
  const double step = numbers.uniform(0.25, 4);
  shape_scores(c, numbers, 0.01, [step](Index key) { return step * static_cast<double>(key); });
}

void fill_descending(Case& c, Numbers& numbers) {
  const double step = numbers.uniform(0.25, 4);
  shape_scores(c, numbers, 0.01, [step](Index key) { return -step * static_cast<double>(key); });
}

void fill_very_negative(Case& c, Numbers& numbers) {
  const double base = -50 * numbers.power_of_two(0, 12);
  shape_scores(c, numbers, 0.01, [&, base](Index) { return base - 3 * numbers.uniform(); });
}

void fill_ties(Case& c, Numbers& numbers) {
  shape_scores(c, numbers, 0, [&](Index) { return numbers.below(2) == 0 ? 4.0 : 1.0; });
}

void fill_spread(Case& c, Numbers& numbers) {
  const double width = numbers.power_of_two(3, 9);
  shape_scores(c, numbers, 0.01, [&, width](Index) { return numbers.uniform(-width, 0); });
}

void fill_offset(Case& c, Numbers& numbers) {
  const double offset = numbers.sign() * numbers.power_of_two(4, 12);
  shape_scores(c, numbers, 0.01, [&, offset](Index) { return offset + numbers.normal(); });
}

/// All scores equal; a huge value on the key before or after a tile boundary, or on the last one.
void fill_boundary_value(Case& c, Numbers& numbers) {
  shape_scores(c, numbers, 0, [](Index) { return 0.0; });
  if (c.problem.seq_kv == 0) return;
  const Index tile = std::min(c.tiling.tile_kv, c.problem.seq_kv);
  const std::array<Index, 4> places{c.problem.seq_kv - 1, tile - 1,
                                    std::min(tile, c.problem.seq_kv - 1), Index{0}};
  const Index key = places[numbers.below(places.size())];
  const double huge = numbers.sign() * numbers.power_of_two(10, 90);
  for_each_index(c.problem.v_extents(), [&](Index b, Index h, Index row, Index column) {
    if (row == key) c.v.set(b, h, row, column, finite(c.v.dtype(), huge));
  });
}

/// Values around and below the normal range of the dtype, and scores that differ by almost nothing.
void fill_subnormal(Case& c, Numbers& numbers) {
  // Enclosures are pairs of doubles: below the normal range of f64 they could not decide.
  const auto smallest_of = [](Dtype dtype) {
    return format_of(dtype).min_normal * (dtype == Dtype::f64 ? 0x1p70 : 1);
  };
  const double smallest = smallest_of(c.problem.dtype);
  const double smallest_value = smallest_of(c.problem.v_dtype());
  const double unit = format_of(c.problem.v_dtype()).unit_roundoff;
  fill_normal(c, numbers);
  fill_q(c,
         [&](Index, Index, Index, Index) { return numbers.sign() * numbers.uniform() * smallest; });
  fill_v(c, [&](Index, Index, Index, Index) {
    return numbers.sign() * smallest_value * numbers.uniform() *
           (numbers.below(4) == 0 ? unit * 8 : 1);
  });
}

/// Ordinary scores, huge values of both signs: the output is small against what is summed.
void fill_cancelling(Case& c, Numbers& numbers) {
  shape_scores(c, numbers, 0,
               [&](Index key) { return key % 2 == 0 ? 1.0 : 1.0 + numbers.uniform() * 0x1p-8; });
  const double size = numbers.power_of_two(0, 40);
  fill_v(c, [&](Index, Index, Index key, Index) {
    return (key % 2 == 0 ? size : -size) * (1 + numbers.uniform() * 0x1p-6);
  });
}

/// Numbers around the scores, sometimes far beyond them.
void fill_bias(Case& c, Numbers& numbers) {
  const double size = numbers.below(4) == 0 ? numbers.power_of_two(4, 10) : 1;
  c.bias = finite_filled(c.problem.bias_dtype(), c.problem.bias_extents(),
                         [&](Index, Index, Index, Index) { return size * numbers.normal(); });
}

/// Every head its own logit, from negligible to dominating.
void fill_sink(Case& c, Numbers& numbers) {
  c.sink = finite_filled(c.problem.compute_dtype(), c.problem.sink_extents(),
                         [&](Index, Index, Index, Index) {
                           return numbers.sign() * numbers.power_of_two(-2, 6) + numbers.normal();
                         });
}

/// Normal gradients; nothing arrives at some rows.
void fill_gradients(Case& c, Numbers& numbers) {
  if (!c.problem.backward) return;
  double size = 1;
  c.dout = finite_filled(c.problem.out_dtype(), c.problem.out_extents(),
                         [&](Index, Index, Index, Index column) {
                           if (column == 0) size = numbers.below(6) == 0 ? 0 : 1;
                           return size * numbers.normal();
                         });
  c.dlse = finite_filled(c.problem.compute_dtype(), c.problem.dlse_extents(),
                         [&](Index, Index, Index, Index) { return numbers.normal(); });
}

/// What every family has beside q, k and v; numbers of their own, so that q, k and v do not depend
/// on what else the problem has.
void fill_others(Case& c, std::uint64_t seed) {
  Numbers numbers(seed ^ 0xB1A5'51A7'0D0D'0A77U);
  if (c.problem.bias) fill_bias(c, numbers);
  if (c.problem.sink) fill_sink(c, numbers);
  if (c.problem.qv)
    c.qv = finite_filled(c.problem.dtype, c.problem.qv_extents(),
                         [&](Index, Index, Index, Index) { return numbers.normal(); });
  fill_gradients(c, numbers);
  share_values(c);
}

struct FamilyRow {
  ValueFamily family;
  void (*fill)(Case&, Numbers&);
};

constexpr std::array kFamilies{
    FamilyRow{{"whole", "small whole numbers: exact sums, ties, easy to read"}, fill_whole},
    FamilyRow{{"normal", "plain normal values"}, fill_normal},
    FamilyRow{{"ascending", "the maximum rises at every key: the longest chain of rescales"},
              fill_ascending},
    FamilyRow{{"descending", "the maximum is the first key: no rescale after it"}, fill_descending},
    FamilyRow{{"very_negative", "all scores from -50 to -200000: wrong mask constants dominate"},
              fill_very_negative},
    FamilyRow{{"ties", "many keys at exactly the maximum"}, fill_ties},
    FamilyRow{{"spread", "scores up to 512 apart: weights underflow"}, fill_spread},
    FamilyRow{{"offset", "all scores share an offset of up to 4096"}, fill_offset},
    FamilyRow{{"boundary_value",
               "a huge value at a tile boundary: off by one is an error of order "
               "one"},
              fill_boundary_value},
    FamilyRow{{"subnormal", "inputs below the normal range"}, fill_subnormal},
    FamilyRow{{"cancelling", "large values of both signs, a small output"}, fill_cancelling},
};

constexpr auto kFamilyList = [] {
  std::array<ValueFamily, kFamilies.size()> list;
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = kFamilies[i].family;
  return list;
}();

}  // namespace

std::span<const ValueFamily> value_families() {
  return kFamilyList;
}

bool is_value_family(std::string_view name) {
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](const FamilyRow& row) { return row.family.name == name; });
}

void fill_family(Case& into, std::string_view name, std::uint64_t seed) {
  Numbers numbers(seed);
  for (const FamilyRow& row : kFamilies)
    if (row.family.name == name) row.fill(into, numbers);
  fill_others(into, seed);
}

void fill_real(Case& into, const tensors::RealAttention& source, std::uint64_t seed) {
  const Problem& from = source.problem;
  Numbers numbers(seed);
  const auto place = [&](Index extent) {
    return extent < 1 || seed == 0
               ? Index{0}
               : static_cast<Index>(numbers.below(static_cast<std::uint64_t>(extent)));
  };
  const Index query_at = place(from.seq_q);
  const Index key_at = place(from.seq_kv);
  const Index column_at = place(from.head_dim);
  const auto taken_from = [](const Tensor& tensor, Index row_at, Index first_column) {
    return [&tensor, row_at, first_column](Index, Index h, Index row, Index column) {
      const Extents& extents = tensor.extents();
      return tensor.get(0, h % extents[1], (row_at + row) % extents[2],
                        (first_column + column) % extents[3]);
    };
  };
  fill_q(into, taken_from(source.q, query_at, column_at));
  fill_k(into, taken_from(source.k, key_at, column_at));
  fill_v(into, taken_from(source.v, key_at, 0));
  fill_others(into, seed);
}

}  // namespace attest::properties
