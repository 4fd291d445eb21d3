#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "attest/element.hpp"
#include "problem_checks.hpp"

namespace attest {
namespace {

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

bool fills(std::size_t size, Index rows, Index columns) {
  if (columns > 0 && rows > std::numeric_limits<Index>::max() / columns) return false;
  return static_cast<Index>(size) == rows * columns;
}

/// Shape of a table of one row a query, or one row for all.
template <class Table>
Status check_table(const Table& table, const Problem& problem, const std::string& name) {
  if (table.rows < 1 || (table.rows != 1 && table.rows != problem.seq_q))
    return invalid_argument(name + " have " + std::to_string(table.rows) + " rows, the problem " +
                            std::to_string(problem.seq_q) + " queries");
  if (table.columns != problem.seq_kv)
    return invalid_argument(name + " have " + std::to_string(table.columns) +
                            " columns, the problem " + std::to_string(problem.seq_kv) + " keys");
  return {};
}

Status check_prefix(const Problem& problem) {
  if (!problem.mask.prefix) return {};
  if (!problem.mask.causal) return invalid_argument("a prefix needs a causal mask");
  if (*problem.mask.prefix < 0) return invalid_argument("a prefix must not be negative");
  return {};
}

Status check_alignment(const Problem& problem) {
  if (problem.mask.causal && problem.mask.alignment)
    return invalid_argument("a causal mask has its own diagonal: align must be none");
  return {};
}

bool has_diagonal(const Mask& mask) {
  return mask.causal || mask.alignment;
}

Status check_window(const Problem& problem) {
  const Window& window = problem.mask.window;
  if (window.left.value_or(0) < 0 || window.right.value_or(0) < 0)
    return invalid_argument("limits of a window must not be negative");
  if (!window.none() && !has_diagonal(problem.mask))
    return invalid_argument("a window needs a diagonal: mask=causal:... or align=...");
  return {};
}

Status check_keep_first(const Problem& problem) {
  if (problem.mask.keep_first < 0)
    return invalid_argument("the number of first tokens to keep must not be negative");
  if (problem.mask.keep_first > 0 && !problem.mask.window.left)
    return invalid_argument("first tokens to keep need a window with a left limit");
  return {};
}

Status check_chunk(const Problem& problem) {
  if (!problem.mask.chunk) return {};
  if (*problem.mask.chunk < 1) return invalid_argument("a chunk must have at least 1 key");
  if (!has_diagonal(problem.mask))
    return invalid_argument("chunks need a diagonal: mask=causal:... or align=...");
  return {};
}

Status check_segments(const Problem& problem) {
  if (!problem.mask.segments) return {};
  const Segments& segments = *problem.mask.segments;
  if (static_cast<Index>(segments.q.size()) != problem.seq_q)
    return invalid_argument("documents have " + counted(segments.q.size(), "numbers of queries") +
                            ", the problem " + std::to_string(problem.seq_q) + " queries");
  if (static_cast<Index>(segments.k.size()) != problem.seq_kv)
    return invalid_argument("documents have " + counted(segments.k.size(), "numbers of keys") +
                            ", the problem " + std::to_string(problem.seq_kv) + " keys");
  return {};
}

Status check_mask_bits(const Problem& problem) {
  if (!problem.mask.bits) return {};
  const MaskBits& bits = *problem.mask.bits;
  if (Status status = check_table(bits, problem, "mask bits"); !status.ok()) return status;
  if (!fills(bits.visible.size(), bits.rows, bits.columns))
    return invalid_argument("mask bits do not fill their rows and columns");
  return {};
}

Status check_block_mask(const Problem& problem) {
  if (!problem.mask.blocks) return {};
  const BlockMask& blocks = *problem.mask.blocks;
  if (blocks.block_q < 1 || blocks.block_kv < 1)
    return invalid_argument("blocks of a mask must have at least 1 query and 1 key");
  const Index rows = ceil_divide(problem.seq_q, blocks.block_q);
  const Index columns = ceil_divide(problem.seq_kv, blocks.block_kv);
  if (blocks.rows != rows || blocks.columns != columns)
    return invalid_argument("the block mask has " + std::to_string(blocks.rows) + " x " +
                            std::to_string(blocks.columns) + " blocks, the problem " +
                            std::to_string(rows) + " x " + std::to_string(columns));
  if (!fills(blocks.visible.size(), rows, columns))
    return invalid_argument("the block mask does not fill its rows and columns");
  return {};
}

Status check_additive_mask(const Problem& problem) {
  if (!problem.mask.additive) return {};
  const AdditiveMask& additive = *problem.mask.additive;
  if (Status status = check_table(additive, problem, "numbers of the additive mask"); !status.ok())
    return status;
  if (!fills(additive.value.size(), additive.rows, additive.columns))
    return invalid_argument("numbers of the additive mask do not fill their rows and columns");
  for (const double value : additive.value) {
    if (std::isnan(value) || value == std::numeric_limits<double>::infinity())
      return invalid_argument("a number of an additive mask is finite or -inf");
    if (rounded_to(problem.compute_dtype(), value) != value)
      return invalid_argument("a number of the additive mask is not exact in the compute dtype");
  }
  return {};
}

constexpr std::array kChecks{
    ProblemCheck{"mask", check_prefix},       ProblemCheck{"align", check_alignment},
    ProblemCheck{"win", check_window},        ProblemCheck{"keep", check_keep_first},
    ProblemCheck{"mask", check_chunk},        ProblemCheck{"mask", check_segments},
    ProblemCheck{"mask", check_mask_bits},    ProblemCheck{"mask", check_block_mask},
    ProblemCheck{"mask", check_additive_mask}};

}  // namespace

std::span<const ProblemCheck> mask_checks() {
  return kChecks;
}

}  // namespace attest
