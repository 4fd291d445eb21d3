// Moves of single values: special numbers, signs, neighbours, equal keys.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "attest/dtype.hpp"
#include "properties/moves_structure.hpp"

namespace attest::properties {
namespace {

/// One element of a tensor that has numbers of its own.
class Place {
 public:
  static std::optional<Place> drawn(Case& of, Draw& draw) {
    std::vector<const CaseTensor*> tensors;
    for (const CaseTensor& tensor : case_tensors())
      if (!(of.*tensor.tensor).bytes().empty() &&
          !(of.problem.v_is_k_view && tensor.tensor == &Case::v))
        tensors.push_back(&tensor);
    if (tensors.empty()) return std::nullopt;
    const CaseTensor& chosen = *tensors[draw.below(tensors.size())];
    Place place;
    place.tensor_ = &(of.*chosen.tensor);
    place.needs_finite_ = chosen.name.size() > 1;  // q, k and v may hold anything
    for (std::size_t axis = 0; axis < 4; ++axis)
      place.at_[axis] = draw.between(0, place.tensor_->extents()[axis] - 1);
    return place;
  }

  Dtype dtype() const { return tensor_->dtype(); }
  double get() const { return tensor_->get(at_[0], at_[1], at_[2], at_[3]); }
  /// False where the tensor may not hold it.
  bool set(double value) const {
    tensor_->set(at_[0], at_[1], at_[2], at_[3], value);
    return !needs_finite_ || std::isfinite(get());
  }
  double elsewhere(Draw& draw) const {
    const Extents& extents = tensor_->extents();
    return tensor_->get(draw.between(0, extents[0] - 1), draw.between(0, extents[1] - 1),
                        draw.between(0, extents[2] - 1), draw.between(0, extents[3] - 1));
  }

 private:
  Tensor* tensor_ = nullptr;
  bool needs_finite_ = false;
  Extents at_{};
};

bool place_special_value(Case& of, Draw& draw) {
  const std::optional<Place> place = Place::drawn(of, draw);
  if (!place) return false;
  const Format format = format_of(place->dtype());
  const std::array specials{0.0,
                            1.0,
                            -0.0,
                            format.max_finite,
                            -format.max_finite,
                            std::sqrt(format.max_finite),
                            -1e4,
                            88.8,
                            format.min_normal,
                            format.min_normal / 4,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  return place->set(draw.one_of<double>(specials));
}

bool place_plain_value(Case& of, Draw& draw) {
  const std::optional<Place> place = Place::drawn(of, draw);
  if (!place) return false;
  const double whole = static_cast<double>(draw.between(-8, 8));
  return place->set(std::ldexp(whole, static_cast<int>(draw.between(-6, 4))));
}

bool flip_sign(Case& of, Draw& draw) {
  const std::optional<Place> place = Place::drawn(of, draw);
  return place && place->set(-place->get());
}

bool copy_value(Case& of, Draw& draw) {
  const std::optional<Place> place = Place::drawn(of, draw);
  return place && place->set(place->elsewhere(draw));
}

/// The next number of the type upwards or downwards: the least factor that rounding does not undo.
bool step_one_ulp(Case& of, Draw& draw) {
  const std::optional<Place> place = Place::drawn(of, draw);
  if (!place || !std::isfinite(place->get())) return false;
  const double value = place->get();
  const double unit =
      std::max(std::abs(value) * 0x1p-60, format_of(place->dtype()).rounding_underflow);
  const double sign = draw.chance(50) ? 1 : -1;
  for (double step = unit; std::isfinite(step); step *= 2)
    if (!place->set(value + sign * step) || place->get() != value) break;
  return std::isfinite(place->get());
}

void copy_key(Tensor& to, Index target, const Tensor& from, Index source) {
  const Extents& extents = to.extents();
  for (Index b = 0; b < extents[0]; ++b)
    for (Index h = 0; h < extents[1]; ++h)
      for (Index column = 0; column < extents[3]; ++column)
        to.set(b, h, target, column, from.get(b, h, source, column));
}

bool swap_keys(Case& of, Draw& draw) {
  if (of.problem.seq_kv < 2) return false;
  const Index left = draw.between(0, of.problem.seq_kv - 1);
  const Index right = draw.between(0, of.problem.seq_kv - 1);
  for (Tensor* const tensor : {&of.k, &of.v}) {
    const Tensor before = *tensor;
    copy_key(*tensor, left, before, right);
    copy_key(*tensor, right, before, left);
  }
  return left != right;
}

bool duplicate_key(Case& of, Draw& draw) {
  if (of.problem.seq_kv < 2) return false;
  const Index from = draw.between(0, of.problem.seq_kv - 1);
  const Index to = draw.between(0, of.problem.seq_kv - 1);
  copy_key(of.k, to, Tensor(of.k), from);
  if (draw.chance(50)) copy_key(of.v, to, Tensor(of.v), from);
  return from != to;
}

constexpr std::array kMoves{
    StructureMove{"place a special value", place_special_value},
    StructureMove{"place a plain value", place_plain_value},
    StructureMove{"flip a sign", flip_sign},
    StructureMove{"copy a value", copy_value},
    StructureMove{"step one ulp", step_one_ulp},
    StructureMove{"swap keys", swap_keys},
    StructureMove{"duplicate a key", duplicate_key},
};

}  // namespace

std::span<const StructureMove> moves_of_elements() {
  return kMoves;
}

}  // namespace attest::properties
