#include "probe/sum_shapes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace attest::probe {
namespace {

constexpr std::array<Index, 5> kWidths{2, 4, 8, 16, 32};

/// Leaves below the node that joins two of them, in a sum from the first to the last.
Index in_a_chain(Index left, Index right) {
  return std::max(left, right) + 1;
}
/// The same where neighbours are joined first.
Index pairwise(Index left, Index right) {
  const auto difference = static_cast<std::uint64_t>(left ^ right);
  return Index{1} << std::bit_width(difference);
}
/// The same of `leaves` leaves whose halves are joined first: 0 with leaves / 2.
Index by_halves(Index left, Index right, Index leaves) {
  const auto difference = static_cast<std::uint64_t>(left ^ right);
  return leaves >> std::countr_zero(difference);
}

template <class Size>
JoinSizes made_of(Index keys, Size&& size) {
  JoinSizes sizes(keys);
  for (Index left = 0; left < keys; ++left)
    for (Index right = 0; right < keys; ++right)
      if (left != right) sizes.at(left, right) = size(left, right);
  return sizes;
}

struct Shape {
  std::string name;
  JoinSizes sizes;
};

void add_tiles(std::vector<Shape>& shapes, Index n, Index width) {
  const std::string tiles = "tiles of " + std::to_string(width) + " keys";
  const auto two_levels = [&](auto&& inner, auto&& outer) {
    return made_of(n, [&](Index left, Index right) {
      if (left / width == right / width) return inner(left % width, right % width);
      return width * outer(left / width, right / width);
    });
  };
  const auto all = [&](Index, Index) { return width; };
  shapes.push_back(
      {tiles + ", each a chain, added one after the other", two_levels(in_a_chain, in_a_chain)});
  shapes.push_back({tiles + ", each a chain, added in pairs", two_levels(in_a_chain, pairwise)});
  shapes.push_back(
      {tiles + ", each in pairs, added one after the other", two_levels(pairwise, in_a_chain)});
  shapes.push_back(
      {tiles + ", each at once, added one after the other", two_levels(all, in_a_chain)});
  shapes.push_back({"groups of " + std::to_string(width) + " keys, each added to the sum at once",
                    made_of(n, [&](Index left, Index right) {
                      return (std::max(left, right) / width + 1) * width;
                    })});
}

void add_lanes(std::vector<Shape>& shapes, Index n, Index width) {
  const std::string lanes =
      std::to_string(width) + " lanes of keys " + std::to_string(width) + " apart, ";
  const auto of_lanes = [&](auto&& outer) {
    return made_of(n, [&](Index left, Index right) {
      if (left % width == right % width) return std::max(left, right) / width + 1;
      return n / width * outer(left % width, right % width);
    });
  };
  shapes.push_back({lanes + "added one after the other", of_lanes(in_a_chain)});
  shapes.push_back({lanes + "added in pairs", of_lanes(pairwise)});
  shapes.push_back({lanes + "added by halves", of_lanes([&](Index left, Index right) {
                      return by_halves(left, right, width);
                    })});
}

std::vector<Shape> shapes_of(Index n) {
  std::vector<Shape> shapes;
  shapes.push_back({"one key after the other, first to last", made_of(n, in_a_chain)});
  shapes.push_back(
      {"one key after the other, last to first",
       made_of(n, [n](Index left, Index right) { return n - std::min(left, right); })});
  shapes.push_back({"all keys at once", made_of(n, [n](Index, Index) { return n; })});
  shapes.push_back({"in pairs of neighbours", made_of(n, pairwise)});
  for (const Index width : kWidths) {
    if (width >= n) continue;
    add_tiles(shapes, n, width);
    add_lanes(shapes, n, width);
  }
  return shapes;
}

/// The children of the node above `leaves`: those joined by less than all of them.
std::vector<std::vector<Index>> children(const JoinSizes& sizes, const std::vector<Index>& leaves) {
  const auto whole = static_cast<Index>(leaves.size());
  std::vector<std::vector<Index>> parts;
  for (const Index leaf : leaves) {
    const auto home = std::find_if(parts.begin(), parts.end(), [&](const auto& part) {
      return sizes.at(part.front(), leaf) < whole;
    });
    if (home == parts.end())
      parts.push_back({leaf});
    else
      home->push_back(leaf);
  }
  return parts;
}

/// Empty where the sizes contradict each other.
std::string tree_of(const JoinSizes& sizes, const std::vector<Index>& leaves) {
  if (leaves.size() == 1) return std::to_string(leaves.front());
  const auto parts = children(sizes, leaves);
  if (parts.size() < 2) return {};
  for (std::size_t one = 0; one < parts.size(); ++one)
    for (std::size_t other = one + 1; other < parts.size(); ++other)
      for (const Index left : parts[one])
        for (const Index right : parts[other])
          if (sizes.at(left, right) != static_cast<Index>(leaves.size())) return {};
  std::string text;
  for (const auto& part : parts) {
    const std::string below = tree_of(sizes, part);
    if (below.empty()) return {};
    text += (text.empty() ? "(" : " ") + below;
  }
  return text + ")";
}

}  // namespace

std::string name_of_shape(const JoinSizes& sizes) {
  std::vector<Index> leaves;
  for (Index key = 0; key < sizes.keys(); ++key) leaves.push_back(key);
  const std::string tree = tree_of(sizes, leaves);
  if (tree.empty()) return {};
  for (const Shape& shape : shapes_of(sizes.keys()))
    if (shape.sizes == sizes) return shape.name;
  return "the tree " + tree;
}

}  // namespace attest::probe
