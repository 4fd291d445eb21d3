#include "properties/moves_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "attest/element.hpp"

namespace attest::properties {
namespace {

/// A tensor whose numbers may be changed: v as a view of k has none of its own.
std::vector<Tensor Case::*> changeable(const Case& of) {
  std::vector<Tensor Case::*> found;
  for (const CaseTensor& tensor : case_tensors()) {
    const bool is_view = of.problem.v_is_k_view && tensor.tensor == &Case::v;
    if (!is_view && !(of.*tensor.tensor).bytes().empty()) found.push_back(tensor.tensor);
  }
  return found;
}

Index elements(const Tensor& tensor) {
  return static_cast<Index>(tensor.bytes().size() / size_of(tensor.dtype()));
}

double number(const Tensor& tensor, Index element) {
  return load_element(tensor.dtype(), tensor.bytes().data() + static_cast<std::size_t>(element) *
                                                                  size_of(tensor.dtype()));
}

/// Stores the nearest number of the type that is finite. False: nothing changed.
bool set_number(Tensor& tensor, Index element, double value) {
  if (std::isnan(value)) return false;
  const double most = format_of(tensor.dtype()).max_finite;
  const double before = number(tensor, element);
  const double after = rounded_to(tensor.dtype(), std::clamp(value, -most, most));
  store_element(tensor.dtype(),
                tensor.bytes().data() + static_cast<std::size_t>(element) * size_of(tensor.dtype()),
                after);
  return after != before || std::signbit(after) != std::signbit(before);
}

struct Element {
  Tensor* tensor = nullptr;
  Index at = 0;

  double get() const { return number(*tensor, at); }
  bool set(double value) const { return set_number(*tensor, at, value); }
};

/// Any tensor, however small, is drawn as often as any other.
std::optional<Element> draw_element(Case& on, Draw& draw) {
  const auto tensors = changeable(on);
  if (tensors.empty()) return std::nullopt;
  Tensor& tensor = on.*tensors[draw.below(tensors.size())];
  return Element{&tensor, draw.between(0, elements(tensor) - 1)};
}

bool numbers_changed(Case& on, bool changed) {
  if (!changed) return false;
  becomes_literal(on);
  share_values(on);
  return true;
}

/// Close to the standard normal (Irwin-Hall), as values.cpp has it.
double normal(Draw& draw) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(draw.below(1U << 24U)) * 0x1p-24;
  return sum;
}

/// A number that is zero takes a step of its own, for a relative one would not move it.
double stepped(double value, Draw& draw, double step) {
  const double change = step * normal(draw);
  return value == 0 ? change : value * (1 + change);
}

bool gaussian_one(Case& on, Draw& draw, double step) {
  const auto element = draw_element(on, draw);
  return element && numbers_changed(on, element->set(stepped(element->get(), draw, step)));
}

bool gaussian_some(Case& on, Draw& draw, double step) {
  bool changed = false;
  const auto share = static_cast<unsigned>(draw.between(10, 100));
  for (Tensor Case::*const tensor : changeable(on))
    for (Index i = 0; i < elements(on.*tensor); ++i)
      if (draw.chance(share))
        changed |= set_number(on.*tensor, i, stepped(number(on.*tensor, i), draw, step));
  return numbers_changed(on, changed);
}

/// All numbers of one tensor by one factor: sizes of scores and of values.
bool gaussian_scale(Case& on, Draw& draw, double step) {
  const auto tensors = changeable(on);
  if (tensors.empty()) return false;
  Tensor& tensor = on.*tensors[draw.below(tensors.size())];
  const double factor = std::exp(step * normal(draw));
  bool changed = false;
  for (Index i = 0; i < elements(tensor); ++i)
    changed |= set_number(tensor, i, number(tensor, i) * factor);
  return numbers_changed(on, changed);
}

bool ulp_step(Case& on, Draw& draw, double) {
  const auto element = draw_element(on, draw);
  if (!element) return false;
  const auto next = next_number(element->tensor->dtype(), element->get(), draw.chance(50));
  return next && numbers_changed(on, element->set(*next));
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
  return numbers_changed(on, element->set(std::copysign(size, value)));
}

bool exponent_step(Case& on, Draw& draw, double) {
  const auto element = draw_element(on, draw);
  return element && numbers_changed(on, element->set(element->get() * (draw.chance(50) ? 2 : 0.5)));
}

bool sign_flip(Case& on, Draw& draw, double) {
  const auto element = draw_element(on, draw);
  return element && numbers_changed(on, element->set(-element->get()));
}

/// Where one row of keys is in k and v.
struct KeyPlace {
  Index b = 0;
  Index h = 0;
  Index key = 0;
};

std::vector<double> row_of(const Tensor& tensor, const KeyPlace& at) {
  std::vector<double> row;
  for (Index c = 0; c < tensor.extents()[3]; ++c) row.push_back(tensor.get(at.b, at.h, at.key, c));
  return row;
}

bool set_row(Tensor& tensor, const KeyPlace& at, const std::vector<double>& row) {
  const bool changed = row_of(tensor, at) != row;
  for (std::size_t c = 0; c < row.size(); ++c)
    tensor.set(at.b, at.h, at.key, static_cast<Index>(c), row[c]);
  return changed;
}

/// Two different keys of one batch member and head.
std::optional<std::pair<KeyPlace, KeyPlace>> draw_two_keys(const Case& on, Draw& draw) {
  const Problem& problem = on.problem;
  if (problem.batch == 0 || problem.seq_kv < 2) return std::nullopt;
  KeyPlace one{draw.between(0, problem.batch - 1), draw.between(0, problem.heads_kv - 1),
               draw.between(0, problem.seq_kv - 1)};
  KeyPlace other = one;
  other.key = (one.key + draw.between(1, problem.seq_kv - 1)) % problem.seq_kv;
  return std::pair{one, other};
}

bool swap_rows(Tensor& tensor, const KeyPlace& one, const KeyPlace& other) {
  const std::vector<double> row = row_of(tensor, one);
  const bool changed = set_row(tensor, one, row_of(tensor, other));
  return set_row(tensor, other, row) || changed;
}

bool key_swap(Case& on, Draw& draw, double) {
  const auto keys = draw_two_keys(on, draw);
  if (!keys) return false;
  // Both: another order of the keys. One alone: another value for a weight.
  const std::uint64_t which = draw.below(3);
  bool changed = which != 1 && swap_rows(on.k, keys->first, keys->second);
  if (which != 2 && !on.problem.v_is_k_view)
    changed = swap_rows(on.v, keys->first, keys->second) || changed;
  return numbers_changed(on, changed);
}

bool duplicate_key(Case& on, Draw& draw, double) {
  const auto keys = draw_two_keys(on, draw);
  if (!keys) return false;
  bool changed = set_row(on.k, keys->second, row_of(on.k, keys->first));
  if (!on.problem.v_is_k_view)
    changed = set_row(on.v, keys->second, row_of(on.v, keys->first)) || changed;
  return numbers_changed(on, changed);
}

Index tile_of(const Case& on, Index key) {
  Index number = 0;
  for (const KeyRange& tile : all_tiles(on.tiling, on.problem.seq_kv)) {
    if (key >= tile.begin && key < tile.end) return number;
    ++number;
  }
  return number;
}

bool score_across_tiles(Case& on, Draw& draw, double) {
  const auto keys = draw_two_keys(on, draw);
  if (!keys || tile_of(on, keys->first.key) == tile_of(on, keys->second.key)) return false;
  return numbers_changed(on, set_row(on.k, keys->second, row_of(on.k, keys->first)));
}

/// A tree that was written for this many leaves fits no other number of them.
bool set_tiling(Case& on, Tiling tiling) {
  if (tiling.merge.kind == MergeOrder::Kind::explicit_tree) tiling.merge = {};
  if (tiling == on.tiling || !validate(tiling, on.problem.seq_kv).ok()) return false;
  on.tiling = std::move(tiling);
  return true;
}

bool tile_boundary(Case& on, Draw& draw, double) {
  Tiling tiling = on.tiling;
  if (draw.chance(50))
    tiling.tile_kv = std::max(Index{1}, tiling.tile_kv + (draw.chance(50) ? 1 : -1));
  else
    tiling.tile_kv = draw.between(1, on.problem.seq_kv + 1);
  return set_tiling(on, std::move(tiling));
}

bool kv_split(Case& on, Draw& draw, double) {
  Tiling tiling = on.tiling;
  std::vector<Index>& cuts = tiling.splits.cuts;
  const Index keys = on.problem.seq_kv;
  switch (draw.below(4)) {
    case 0:
      tiling.splits = {draw.between(1, keys + 1), {}};
      break;
    case 1:
      cuts.push_back(draw.between(0, keys));
      break;
    case 2:
      if (cuts.empty()) return false;
      cuts.erase(cuts.begin() + draw.between(0, static_cast<Index>(cuts.size()) - 1));
      break;
    default:
      if (cuts.empty()) return false;
      Index& cut = cuts[draw.below(cuts.size())];
      cut = std::clamp(cut + (draw.chance(50) ? 1 : -1), Index{0}, keys);
  }
  std::sort(cuts.begin(), cuts.end());
  return set_tiling(on, std::move(tiling));
}

bool merge_order(Case& on, Draw& draw, double) {
  constexpr std::array kinds{MergeOrder::Kind::left, MergeOrder::Kind::right,
                             MergeOrder::Kind::balanced, MergeOrder::Kind::random};
  Tiling tiling = on.tiling;
  tiling.merge = {draw.one_of<MergeOrder::Kind>(kinds), 0, {}};
  if (tiling.merge.kind == MergeOrder::Kind::random) tiling.merge.seed = draw.below(1000);
  return set_tiling(on, std::move(tiling));
}

constexpr std::array kMoves{
    ValueMove{"gaussian_one", "a relative step of one number", gaussian_one},
    ValueMove{"gaussian_some", "relative steps of some or all numbers", gaussian_some},
    ValueMove{"gaussian_scale", "one tensor by a factor", gaussian_scale},
    ValueMove{"ulp_step", "the next number of the type, up or down", ulp_step},
    ValueMove{"significand_bit", "one bit of a significand", significand_bit},
    ValueMove{"exponent_step", "twice or half a number", exponent_step},
    ValueMove{"sign_flip", "the sign of a number", sign_flip},
    ValueMove{"key_swap", "two keys exchange k, v or both", key_swap},
    ValueMove{"duplicate_key", "a key becomes equal to another one", duplicate_key},
    ValueMove{"score_across_tiles", "a key takes the score of one in another tile",
              score_across_tiles},
    ValueMove{"tile_boundary", "another tile size", tile_boundary},
    ValueMove{"kv_split", "a kv split more or less, or at another key", kv_split},
    ValueMove{"merge_order", "another merge tree", merge_order},
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

std::optional<Case> ulp_neighbour(const Case& of, Index number_of) {
  Index at = number_of / 2;
  for (Tensor Case::*const tensor : changeable(of)) {
    const Index count = elements(of.*tensor);
    if (at >= count) {
      at -= count;
      continue;
    }
    const auto next = next_number((of.*tensor).dtype(), number(of.*tensor, at), number_of % 2 == 0);
    if (!next) return std::nullopt;
    Case neighbour = of;
    if (!numbers_changed(neighbour, set_number(neighbour.*tensor, at, *next))) return std::nullopt;
    return neighbour;
  }
  return std::nullopt;
}

}  // namespace attest::properties
