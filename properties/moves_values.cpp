#include "properties/moves_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "attest/element.hpp"
#include "properties/moves.hpp"

namespace attest::properties {
namespace {

/// A number that is zero takes a step of its own, for a relative one would not move it.
double stepped(double value, Draw& draw, double step) {
  const double change = step * normal(draw);
  return value == 0 ? change : value * (1 + change);
}

bool gaussian_one(Case& on, Draw& draw, double step) {
  const auto element = draw_element(on, draw);
  return element && numbers_changed(on, element->put_finite(stepped(element->get(), draw, step)));
}

bool gaussian_some(Case& on, Draw& draw, double step) {
  bool changed = false;
  const auto share = static_cast<unsigned>(draw.between(10, 100));
  for (Tensor Case::*const tensor : changeable(on))
    for (Index i = 0; i < elements(on.*tensor); ++i)
      if (const Element element{&(on.*tensor), i}; draw.chance(share))
        changed |= element.put_finite(stepped(element.get(), draw, step));
  return numbers_changed(on, changed);
}

/// All numbers of one tensor by one factor: sizes of scores and of values.
bool gaussian_scale(Case& on, Draw& draw, double step) {
  const auto tensors = changeable(on);
  if (tensors.empty()) return false;
  Tensor& tensor = on.*tensors[draw.below(tensors.size())];
  const double factor = std::exp(step * normal(draw));
  bool changed = false;
  for (Index i = 0; i < elements(tensor); ++i) {
    const Element element{&tensor, i};
    changed |= element.put_finite(element.get() * factor);
  }
  return numbers_changed(on, changed);
}

bool significand_bit(Case& on, Draw& draw, double) {
  const auto element = draw_element(on, draw);
  if (!element) return false;
  const double value = element->get();
  if (value == 0) return false;
  // u = 2^-(p + 1) for p stored bits; below the normal range the spacing stays.
  const Format format = format_of(element->tensor->dtype());
  const int bits = -std::ilogb(format.unit_roundoff) - 1;
  const double power = std::ldexp(1.0, std::ilogb(std::max(std::abs(value), format.min_normal)));
  const double bit = std::ldexp(power, -static_cast<int>(draw.between(1, bits)));  // of this weight
  const bool is_set = std::fmod(std::abs(value), 2 * bit) >= bit;
  const double size = std::abs(value) + (is_set ? -bit : bit);
  return numbers_changed(on, element->put_finite(std::copysign(size, value)));
}

bool exponent_step(Case& on, Draw& draw, double) {
  const auto element = draw_element(on, draw);
  return element &&
         numbers_changed(on, element->put_finite(element->get() * (draw.chance(50) ? 2 : 0.5)));
}

template <bool (*move)(Case&, Draw&)>
bool without_step(Case& on, Draw& draw, double) {
  return move(on, draw);
}

constexpr std::array kMoves{
    ValueMove{"gaussian_one", "a relative step of one number", gaussian_one},
    ValueMove{"gaussian_some", "relative steps of some or all numbers", gaussian_some},
    ValueMove{"gaussian_scale", "one tensor by a factor", gaussian_scale},
    ValueMove{"ulp_step", "the next number of the type, up or down", without_step<step_one_ulp>},
    ValueMove{"significand_bit", "one bit of a significand", significand_bit},
    ValueMove{"exponent_step", "twice or half a number", exponent_step},
    ValueMove{"sign_flip", "the sign of a number", without_step<flip_sign>},
    ValueMove{"key_swap", "two keys exchange k, v or both", without_step<swap_keys>},
    ValueMove{"duplicate_key", "a key becomes equal to another one", without_step<duplicate_key>},
    ValueMove{"score_across_tiles", "a key takes the score of one in another tile",
              without_step<copy_score_across_tiles>},
    ValueMove{"tile_boundary", "another tile size", without_step<change_kv_tile>},
    ValueMove{"kv_split", "a kv split more or less, or at another key",
              without_step<change_kv_splits>},
    ValueMove{"merge_order", "another merge tree", without_step<change_merge_order>},
};

/// The code of a number without its sign counts the numbers above zero.
std::uint64_t magnitude_code(Dtype dtype, double value) {
  std::uint64_t code = 0;
  store_element(dtype, &code, std::abs(value));
  return code;
}

double of_magnitude_code(Dtype dtype, std::uint64_t code) {
  return load_element(dtype, &code);
}

}  // namespace

std::optional<double> next_number(Dtype dtype, double value, bool up) {
  const std::uint64_t code = magnitude_code(dtype, value);
  const bool away = value == 0 || (value > 0) == up;
  const double size = of_magnitude_code(dtype, away ? code + 1 : code - 1);
  if (!std::isfinite(size)) return std::nullopt;
  const bool negative = value == 0 ? !up : value < 0;
  return negative ? -size : size;
}

std::span<const ValueMove> value_moves() {
  return kMoves;
}

bool apply_some_move(Case& on, Draw& draw, double step) {
  constexpr int kTries = 64;
  for (int i = 0; i < kTries; ++i) {
    // Half of all moves are Gaussian steps: they find the sizes, the others the last bits.
    const std::size_t number = draw.chance(40) ? draw.below(3) : draw.below(kMoves.size());
    if (kMoves[number].apply(on, draw, step)) return true;
  }
  return false;
}

Index ulp_neighbours(const Case& of) {
  Index count = 0;
  for (Tensor Case::*const tensor : changeable(of)) count += 2 * elements(of.*tensor);
  return count;
}

std::optional<Case> ulp_neighbour(const Case& of, Index number) {
  Index at = number / 2;
  for (Tensor Case::*const tensor : changeable(of)) {
    const Index count = elements(of.*tensor);
    if (at >= count) {
      at -= count;
      continue;
    }
    Case neighbour = of;
    const Element element{&(neighbour.*tensor), at};
    const auto next = next_number(element.tensor->dtype(), element.get(), number % 2 == 0);
    if (!next || !numbers_changed(neighbour, element.put(*next))) return std::nullopt;
    return neighbour;
  }
  return std::nullopt;
}

}  // namespace attest::properties
