#include "harness/usual_accuracy.hpp"

#include <bit>

#include "kernels/registry.hpp"

namespace attest::harness {
namespace {

constexpr Index kSmallestTile = 16;

/// Rescales on the path of a key: the tiles after its own, and the levels of a merge tree.
Index most_rescales(Index keys) {
  const auto tiles = static_cast<std::uint64_t>((keys + kSmallestTile - 1) / kSmallestTile);
  return static_cast<Index>(tiles) + std::bit_width(tiles);
}

}  // namespace

DeclaredAccuracy usual_accuracy(const Problem& problem) {
  DeclaredAccuracy accuracy = kernels::find_builtin("builtin:textbook")->accuracy(problem);
  accuracy.ordered_sums = false;
  const double u = accuracy.format.unit_roundoff;
  const double exp_error = 4 * u;
  // A rescale multiplies a weight by one more rounded exp: an error of the weight like that of its
  // own exp. The textbook order has none of them.
  accuracy.exp_relative_error =
      exp_error + static_cast<double>(most_rescales(problem.seq_kv)) * (exp_error + 2 * u);
  accuracy.log_relative_error = 4 * u;
  return accuracy;
}

}  // namespace attest::harness
