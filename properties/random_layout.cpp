#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "properties/random_features.hpp"
#include "properties/random_parts.hpp"

namespace attest::properties {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

void draw_window(Draw& draw, const CaseLimits& limits, Problem& problem) {
  Mask& mask = problem.mask;
  if (!mask.causal && !mask.alignment) mask.alignment = draw_diagonal(draw, problem);
  const Index most = problem.seq_kv + 1;
  if (draw.chance(75)) mask.window.left = draw.between(0, most / 2);
  if (!mask.window.left || draw.chance(50)) mask.window.right = draw.between(0, most);
  if (mask.window.left && limits.has(Feature::keep_first) && draw.chance(40))
    mask.keep_first = draw.between(1, 3);
}

}  // namespace

std::vector<Index> draw_documents(Draw& draw, Index length) {
  std::vector<Index> numbers;
  numbers.reserve(static_cast<std::size_t>(length));
  Index document = 0;
  for (Index i = 0; i < length; ++i) {
    if (draw.chance(30)) ++document;
    numbers.push_back(document);
  }
  return numbers;
}

BlockMask draw_blocks(Draw& draw, const Problem& problem) {
  BlockMask blocks;
  blocks.block_q = draw.between(1, 4);
  blocks.block_kv = draw.between(1, 5);
  blocks.rows = (problem.seq_q + blocks.block_q - 1) / blocks.block_q;
  blocks.columns = (problem.seq_kv + blocks.block_kv - 1) / blocks.block_kv;
  for (Index block = 0; block < blocks.rows * blocks.columns; ++block)
    blocks.visible.push_back(draw.chance(60));
  return blocks;
}

AdditiveMask draw_additive(Draw& draw, const Problem& problem) {
  AdditiveMask additive{draw.chance(40) ? 1 : problem.seq_q, problem.seq_kv, {}};
  for (Index i = 0; i < additive.rows * additive.columns; ++i) {
    switch (draw.below(8)) {
      case 0:
      case 1:
        additive.value.push_back(0);
        break;
      case 2:
      case 3:
        additive.value.push_back(kMinusInfinity);
        break;
      case 4:  // a finite stand-in for -inf is a number like any other
        additive.value.push_back(-10000);
        break;
      default:
        additive.value.push_back(static_cast<double>(draw.between(-32, 32)) / 8);
    }
  }
  return additive;
}

namespace {

/// The leading pages of the first member serve another one, too, as far as both have some.
void share_leading_pages(Draw& draw, KvStorage& kv) {
  const std::vector<Index>& first = kv.page_table.front();
  std::vector<Index>& other = kv.page_table[1 + draw.below(kv.page_table.size() - 1)];
  const auto most = static_cast<Index>(std::min(first.size(), other.size()));
  if (most > 0) std::copy_n(first.begin(), draw.between(1, most), other.begin());
}

}  // namespace

KvStorage draw_pages(Draw& draw, const Problem& problem) {
  KvStorage kv;
  kv.kind = KvStorage::Kind::paged;
  kv.page_size = draw.between(1, 5);
  std::vector<Index> needed;
  needed.reserve(static_cast<std::size_t>(problem.batch));
  for (Index b = 0; b < problem.batch; ++b) {
    needed.push_back((problem.key_length(b) + kv.page_size - 1) / kv.page_size);
    kv.pages += needed.back();
  }
  kv.pages += draw.between(0, 2);
  std::vector<Index> free;
  for (Index page = 0; page < kv.pages; ++page) free.push_back(page);
  for (std::size_t i = free.size(); i > 1; --i) std::swap(free[i - 1], free[draw.below(i)]);
  for (const Index count : needed) {
    kv.page_table.emplace_back(free.end() - count, free.end());
    free.resize(free.size() - static_cast<std::size_t>(count));
  }
  // The gradient of a shared page would be a sum over its members.
  if (problem.batch > 1 && !problem.backward && draw.chance(25)) share_leading_pages(draw, kv);
  if (problem.batch > 0 && !free.empty() && draw.chance(33))
    kv.page_table[draw.below(kv.page_table.size())].push_back(free.back());
  return kv;
}

namespace {

bool fits_tables(const Problem& problem) {
  return problem.seq_q > 0 && problem.seq_kv <= 40;
}

}  // namespace

Causal draw_diagonal(Draw& draw, const Problem& problem) {
  constexpr std::array alignments{Causal::Alignment::bottom_right, Causal::Alignment::top_left,
                                  Causal::Alignment::explicit_offset};
  Causal diagonal{draw.one_of<Causal::Alignment>(alignments), 0};
  if (diagonal.alignment == Causal::Alignment::explicit_offset)
    diagonal.offset = draw.between(-problem.seq_q, problem.seq_kv);
  return diagonal;
}

void draw_mask_features(Draw& draw, const CaseLimits& limits, Problem& problem) {
  Mask& mask = problem.mask;
  const bool tables_fit = fits_tables(problem);
  if (limits.has(Feature::window) && draw.chance(25)) draw_window(draw, limits, problem);
  if (limits.has(Feature::prefix) && mask.causal && draw.chance(25))
    mask.prefix = draw.between(0, problem.seq_kv);
  if (limits.has(Feature::chunk) && draw.chance(12)) {
    if (!mask.causal && !mask.alignment) mask.alignment = draw_diagonal(draw, problem);
    mask.chunk = draw.between(1, 6);
  }
  if (limits.has(Feature::segments) && tables_fit && draw.chance(12))
    mask.segments = {draw_documents(draw, problem.seq_q), draw_documents(draw, problem.seq_kv)};
  if (limits.has(Feature::block_mask) && tables_fit && problem.seq_kv > 0 && draw.chance(12))
    mask.blocks = draw_blocks(draw, problem);
  if (draw.chance(12)) draw_additive_mask(draw, limits, problem);
}

void draw_additive_mask(Draw& draw, const CaseLimits& limits, Problem& problem) {
  if (limits.has(Feature::additive_mask) && fits_tables(problem) && problem.seq_kv > 0)
    problem.mask.additive = draw_additive(draw, problem);
}

void draw_storage(Draw& draw, const CaseLimits& limits, Problem& problem) {
  constexpr std::array orders{Layout::Order::bhsd, Layout::Order::sbhd, Layout::Order::bshd};
  Layout& layout = problem.layout;
  if (draw.chance(40)) layout.order = draw.one_of<Layout::Order>(orders);
  if (limits.has(Feature::packed_rows) && draw.chance(12)) layout.order = Layout::Order::thd;
  if (draw.chance(20)) layout.row_padding = draw.between(1, 3);
  if (draw.chance(10)) layout.column_stride = 2;
  if (limits.has(Feature::paged) && draw.chance(20))
    problem.kv = draw_pages(draw, problem);
  else if (limits.has(Feature::left_padding) && layout.order != Layout::Order::thd &&
           draw.chance(15))
    problem.kv.kind = KvStorage::Kind::left_padded;
}

}  // namespace attest::properties
