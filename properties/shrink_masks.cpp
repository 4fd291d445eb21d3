#include <cmath>

#include "properties/shrink_candidates.hpp"

namespace attest::properties {
namespace {

/// A hidden pair is less plain than a seen one.
Index table_cost(const std::vector<bool>& visible) {
  Index cost = 8;
  for (const bool bit : visible) cost += bit ? 1 : 2;
  return cost;
}

void shorter_table(Candidates& candidates) {
  candidates.offer_changed([](Case& c) {
    if (!c.problem.mask.bits || c.problem.mask.bits->rows < 2) return;
    MaskBits& bits = *c.problem.mask.bits;
    bits.rows = 1;
    bits.visible.resize(static_cast<std::size_t>(bits.columns));
  });
  candidates.offer_changed([](Case& c) {
    if (!c.problem.mask.additive || c.problem.mask.additive->rows < 2) return;
    AdditiveMask& additive = *c.problem.mask.additive;
    additive.rows = 1;
    additive.value.resize(static_cast<std::size_t>(additive.columns));
  });
  candidates.offer_changed([](Case& c) {
    if (!c.problem.mask.additive) return;
    for (double& value : c.problem.mask.additive->value)
      if (std::isfinite(value)) value = 0;
  });
}

}  // namespace

Index mask_cost(const Mask& mask) {
  Index cost = 0;
  for (const auto& diagonal : {mask.causal, mask.alignment})
    if (diagonal) cost += diagonal->alignment == Causal::Alignment::explicit_offset ? 3 : 2;
  if (mask.bits) cost += table_cost(mask.bits->visible);
  if (mask.blocks) cost += 1 + table_cost(mask.blocks->visible);
  if (mask.additive)
    for (const double value : mask.additive->value) cost += value == 0 ? 2 : 3;
  if (mask.additive) cost += 10;
  if (mask.segments) cost += 10;
  if (mask.prefix) cost += 2 + *mask.prefix;
  if (mask.chunk) cost += 5;
  cost += (mask.window.left ? 3 : 0) + (mask.window.right ? 3 : 0) + mask.keep_first;
  return cost;
}

void plainer_masks(const Case& from, Candidates& candidates) {
  if (from.problem.mask.none() && !from.problem.mask.alignment) return;
  const auto offer = [&](void (*change)(Mask&)) {
    candidates.offer_changed([&](Case& c) { change(c.problem.mask); });
  };
  offer([](Mask& mask) { mask = {}; });
  offer([](Mask& mask) { mask.bits.reset(); });
  offer([](Mask& mask) { mask.blocks.reset(); });
  offer([](Mask& mask) { mask.additive.reset(); });
  offer([](Mask& mask) { mask.segments.reset(); });
  offer([](Mask& mask) {
    mask.window = {};
    mask.keep_first = 0;
  });
  offer([](Mask& mask) { mask.chunk.reset(); });
  offer([](Mask& mask) { mask.keep_first = 0; });
  offer([](Mask& mask) { mask.prefix.reset(); });
  offer([](Mask& mask) { mask.window.right.reset(); });
  offer([](Mask& mask) {
    mask.window.left.reset();
    mask.keep_first = 0;
  });
  offer([](Mask& mask) {
    mask.causal.reset();
    mask.prefix.reset();
  });
  offer([](Mask& mask) { mask.alignment.reset(); });
  offer([](Mask& mask) {
    if (mask.causal) mask.causal = Causal{};
  });
  offer([](Mask& mask) {
    if (mask.alignment) mask.alignment = Causal{};
  });
  offer([](Mask& mask) {
    if (mask.prefix && *mask.prefix > 0) --*mask.prefix;
  });
  shorter_table(candidates);
}

}  // namespace attest::properties
