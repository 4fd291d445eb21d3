// Moves of single numbers: special ones, signs, neighbours.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "attest/element.hpp"
#include "properties/moves.hpp"
#include "properties/moves_structure.hpp"
#include "properties/moves_values.hpp"

namespace attest::properties {
namespace {

std::byte* address(const Element& of) {
  return of.tensor->bytes().data() + static_cast<std::size_t>(of.at) * size_of(of.tensor->dtype());
}

bool place_special_value(Case& of, Draw& draw) {
  const std::optional<Element> place = draw_element(of, draw);
  if (!place) return false;
  const Format format = format_of(place->tensor->dtype());
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
  return numbers_changed(of, place->put(draw.one_of<double>(specials)));
}

bool place_plain_value(Case& of, Draw& draw) {
  const std::optional<Element> place = draw_element(of, draw);
  if (!place) return false;
  const double whole = static_cast<double>(draw.between(-8, 8));
  return numbers_changed(of, place->put(std::ldexp(whole, static_cast<int>(draw.between(-6, 4)))));
}

/// Another number of the same tensor.
bool copy_value(Case& of, Draw& draw) {
  const std::optional<Element> place = draw_element(of, draw);
  if (!place) return false;
  const Element source{place->tensor, draw.between(0, elements(*place->tensor) - 1)};
  return numbers_changed(of, place->put(source.get()));
}

constexpr std::array kMoves{
    StructureMove{"place a special value", place_special_value},
    StructureMove{"place a plain value", place_plain_value},
    StructureMove{"flip a sign", flip_sign},
    StructureMove{"copy a value", copy_value},
    StructureMove{"step one ulp", step_one_ulp},
    StructureMove{"swap keys", swap_keys},
    StructureMove{"duplicate a key", duplicate_key},
    StructureMove{"copy a score across tiles", copy_score_across_tiles},
};

}  // namespace

double Element::get() const {
  return load_element(tensor->dtype(), address(*this));
}

bool Element::put(double value) const {
  const double before = get();
  const double after = rounded_to(tensor->dtype(), value);
  if (!may_be_special && !std::isfinite(after)) return false;
  store_element(tensor->dtype(), address(*this), after);
  return after != before || std::signbit(after) != std::signbit(before);
}

bool Element::put_finite(double value) const {
  if (std::isnan(value)) return false;
  const double most = format_of(tensor->dtype()).max_finite;
  return put(std::clamp(value, -most, most));
}

std::vector<Tensor Case::*> changeable(const Case& of) {
  std::vector<Tensor Case::*> found;
  for (const CaseTensor& tensor : case_tensors())
    if (!is_view(of.problem, tensor.tensor) && !(of.*tensor.tensor).bytes().empty())
      found.push_back(tensor.tensor);
  return found;
}

Index elements(const Tensor& tensor) {
  return static_cast<Index>(tensor.bytes().size() / size_of(tensor.dtype()));
}

std::optional<Element> draw_element(Case& on, Draw& draw) {
  const auto tensors = changeable(on);
  if (tensors.empty()) return std::nullopt;
  Tensor Case::*const chosen = tensors[draw.below(tensors.size())];
  Tensor& tensor = on.*chosen;
  return Element{&tensor, draw.between(0, elements(tensor) - 1),
                 chosen == &Case::q || chosen == &Case::k || chosen == &Case::v};
}

bool numbers_changed(Case& on, bool changed) {
  if (!changed) return false;
  becomes_literal(on);
  share_values(on);
  return true;
}

bool step_one_ulp(Case& on, Draw& draw) {
  const auto element = draw_element(on, draw);
  if (!element || !std::isfinite(element->get())) return false;
  const auto next = next_number(element->tensor->dtype(), element->get(), draw.chance(50));
  return next && numbers_changed(on, element->put(*next));
}

bool flip_sign(Case& on, Draw& draw) {
  const auto element = draw_element(on, draw);
  return element && numbers_changed(on, element->put(-element->get()));
}

std::span<const StructureMove> moves_of_elements() {
  return kMoves;
}

}  // namespace attest::properties
