#include "fuzz/case_mutator.hpp"

#include <algorithm>
#include <string>

#include "properties/moves_structure.hpp"

namespace attest::fuzz {
namespace {

using properties::Draw;

constexpr int kTries = 4;

/// One to four moves on the case, and now and then another law.
void move(const CaseForm& form, CaseInput& input, Draw& draw) {
  if (draw.chance(30)) input.law = &form.drawn_law(draw);
  for (Index moves = draw.between(1, 4), tries = 4 * moves; moves > 0 && tries > 0; --tries) {
    const auto& chosen = draw.one_of(properties::structure_moves());
    if (apply(chosen, input.value, draw)) --moves;
  }
}

/// The line, if it has room and is an input of its own: what has grown too large is not.
std::size_t write(const CaseForm& form, const CaseInput& input, std::span<std::uint8_t> out) {
  const ProblemText text = properties::to_text(input.value, input.law->name);
  if (!is_small(text)) return 0;
  const std::string line = form.encode(input);
  if (line.size() > out.size()) return 0;
  std::ranges::copy(line, out.begin());
  return line.size();
}

}  // namespace

std::size_t mutate(const CaseForm& form, std::uint8_t* data, std::size_t size, std::size_t max_size,
                   std::uint64_t seed, const RawMutation& raw) {
  properties::SeededDraw draw(properties::mixed_seed(seed, size, 0));
  if (draw.below(8) == 0) return raw(data, size, max_size);
  const bool fresh = draw.below(3) == 0;
  const CaseInput given = form.decode({data, size});
  for (int tried = 0; tried < kTries; ++tried) {
    CaseInput input = fresh ? form.drawn(draw) : given;
    if (!fresh) move(form, input, draw);
    if (const std::size_t written = write(form, input, {data, max_size}); written > 0)
      return written;
  }
  return raw(data, size, max_size);
}

std::size_t cross_over(const CaseForm& form, std::span<const std::uint8_t> first,
                       std::span<const std::uint8_t> second, std::span<std::uint8_t> out,
                       std::uint64_t seed) {
  properties::SeededDraw draw(properties::mixed_seed(seed, first.size(), second.size()));
  CaseInput mixed = form.decode(first);
  const CaseInput other = form.decode(second);
  for (int tried = 0; tried < kTries; ++tried) {
    CaseInput input = mixed;
    input.value = crossed(mixed.value, other.value, draw);
    if (draw.chance(50)) input.law = other.law;
    if (const std::size_t written = write(form, input, out); written > 0) return written;
  }
  return 0;
}

}  // namespace attest::fuzz
