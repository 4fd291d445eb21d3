#include "properties/diagnosis_experiments.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "attest/element.hpp"
#include "properties/random_parts.hpp"
#include "properties/values.hpp"

namespace attest::properties {
namespace {

/// Rows and pairs of a drawn case: what is small is judged in a millisecond.
constexpr Index kMostRows = 96;
constexpr int kTries = 12;

/// One number for each head or member: a problem of other heads would have to be given others.
bool has_numbers_of_heads(const Problem& problem) {
  return problem.descales || (problem.alibi && !problem.alibi->slopes.empty());
}

void redraw_heads(Draw& draw, Problem& problem) {
  if (has_numbers_of_heads(problem)) return;
  const bool grouped = problem.heads_q > problem.heads_kv;
  problem.batch = draw.between(problem.batch > 1 ? 2 : 1, 3);
  problem.heads_kv = problem.heads_kv > 1 ? draw.between(2, 4) : draw.between(1, 2);
  problem.heads_q = problem.heads_kv * (grouped ? draw.between(2, 4) : 1);
}

Index redrawn_keys(Draw& draw, Index was) {
  switch (draw.below(8)) {
    case 0:
    case 1:
      return draw.between(std::max(Index{1}, was - was / 4), was + was / 4 + 1);
    case 2:
      return draw.between(30, 70);
    case 3:
      return draw.between(1, 3);
    default:
      return draw.between(2, 14);
  }
}

void redraw_lengths(Draw& draw, Problem& problem) {
  // One query is a path of its own in many kernels, and stays one in half of the cases.
  const bool decodes = problem.seq_q == 1 && draw.chance(50);
  const Index fewest = problem.seq_q > 1 ? 2 : 1;
  const Index most =
      std::max(fewest, kMostRows / std::max(Index{1}, problem.batch * problem.heads_q));
  problem.seq_q = decodes ? 1 : std::min(draw.between(fewest, 9), most);
  problem.seq_kv = redrawn_keys(draw, problem.seq_kv);
  if (!problem.query_lengths.empty())
    problem.query_lengths = draw_lengths(draw, problem.batch, problem.seq_q);
  if (!problem.key_lengths.empty())
    problem.key_lengths = draw_lengths(draw, problem.batch, problem.seq_kv);
}

void redraw_columns(Draw& draw, Problem& problem) {
  // Kernels have paths of their own for large numbers of columns.
  if (problem.head_dim >= 16 || draw.chance(30)) return;
  problem.head_dim = draw.between(2, 8);
  problem.head_dim_v = problem.v_is_k_view ? draw.between(1, problem.head_dim) : draw.between(2, 6);
}

void redraw_diagonal(Draw& draw, const Problem& problem, std::optional<Causal>& diagonal) {
  if (diagonal && diagonal->alignment == Causal::Alignment::explicit_offset)
    diagonal->offset = draw.between(-problem.seq_q, problem.seq_kv);
}

void redraw_mask(Draw& draw, Problem& problem) {
  Mask& mask = problem.mask;
  redraw_diagonal(draw, problem, mask.causal);
  redraw_diagonal(draw, problem, mask.alignment);
  const Index most = problem.seq_kv + 1;
  if (mask.prefix) mask.prefix = draw.between(0, most);
  if (mask.window.left) mask.window.left = draw.between(0, most / 2);
  if (mask.window.right) mask.window.right = draw.between(0, most / 2);
  if (mask.keep_first > 0) mask.keep_first = draw.between(1, 3);
  if (mask.chunk) mask.chunk = draw.between(1, 6);
  if (mask.segments)
    mask.segments =
        Segments{draw_documents(draw, problem.seq_q), draw_documents(draw, problem.seq_kv)};
  if (mask.bits) mask.bits = draw_bits(draw, problem);
  if (mask.blocks) mask.blocks = draw_blocks(draw, problem);
  if (mask.additive) mask.additive = draw_additive(draw, problem);
}

void redraw_tiling(Draw& draw, Case& of) {
  constexpr std::array<Index, 6> tiles{1, 2, 3, 4, 5, 8};
  const bool splits = of.tiling.splits != KvSplits{};
  if (draw.chance(70)) of.tiling.tile_kv = draw.one_of<Index>(tiles);
  if (draw.chance(70)) of.tiling.tile_q = draw.one_of<Index>(tiles);
  of.tiling.splits = {};
  of.tiling.merge = {};
  if (splits || draw.chance(25)) draw_cuts(draw, of.problem.seq_kv, of.tiling);
}

void redraw_values(Draw& draw, ExperimentValues values, Case& of) {
  const auto families = value_families();
  const bool any = values == ExperimentValues::all && draw.chance(25);
  const std::string_view family = any               ? families[draw.below(families.size())].name
                                  : draw.chance(30) ? "whole"
                                                    : "normal";
  fill_family(of, family, draw.below(1'000'000));
}

/// A key that some query does not see, if there is one; of a member that has keys.
std::optional<std::pair<Index, Index>> key_to_exclude(Draw& draw, const Problem& problem) {
  if (problem.batch == 0) return std::nullopt;
  const Index b = draw.between(0, problem.batch - 1);
  const Index keys = problem.key_length(b);
  if (keys == 0) return std::nullopt;
  const Index first = draw.between(0, keys - 1);
  for (Index key = first; key < first + keys; ++key)
    for (Index query = 0; query < problem.query_length(b); ++query)
      if (!visible(problem, b, query, key % keys)) return std::pair(b, key % keys);
  return std::pair(b, first);
}

enum class Loud { nan_value, large_value, nan_key };

/// A key holds NaN, or numbers that are heard through a very small weight.
void make_a_key_loud(Draw& draw, Loud how, Case& of) {
  const Problem& problem = of.problem;
  const auto place = key_to_exclude(draw, problem);
  if (!place || problem.has_fp8_inputs()) return;
  const double loud = how == Loud::large_value ? 0x1p15 : std::numeric_limits<double>::quiet_NaN();
  Tensor& tensor = how == Loud::nan_key || problem.v_is_k_view ? of.k : of.v;
  for (Index h = 0; h < tensor.extents()[1]; ++h)
    for (Index c = 0; c < tensor.extents()[3]; ++c)
      tensor.set(place->first, h, place->second, c, loud);
}

std::optional<Case> redrawn(Draw& draw, const Case& like, ExperimentValues values,
                            std::optional<Loud> loud) {
  Case of = like;
  redraw_heads(draw, of.problem);
  redraw_lengths(draw, of.problem);
  redraw_columns(draw, of.problem);
  if (of.problem.seq_q == 0 || of.problem.seq_kv == 0) return std::nullopt;
  redraw_mask(draw, of.problem);
  if (of.problem.kv.kind == KvStorage::Kind::paged) of.problem.kv = draw_pages(draw, of.problem);
  redraw_tiling(draw, of);
  if (!validate(of.problem).ok() || !validate(of.tiling, of.problem.seq_kv).ok())
    return std::nullopt;
  if (!affordable(of.problem)) return std::nullopt;
  redraw_values(draw, values, of);
  if (loud && values == ExperimentValues::all) make_a_key_loud(draw, *loud, of);
  share_values(of);
  becomes_literal(of);
  return of;
}

}  // namespace

Index work_of(const Problem& problem) {
  const Index columns = problem.head_dim + problem.head_dim_v + 8;
  const Index pairs = problem.rows() * std::max(problem.seq_kv, Index{1});
  return pairs <= kMostWork / columns ? pairs * columns : kMostWork + 1;
}

std::vector<Case> experiments(std::span<const Case* const> like, std::size_t count,
                              ExperimentValues values) {
  std::vector<Case> drawn;
  if (like.empty()) return drawn;
  SeededDraw draw(0xE59E417);
  constexpr std::array<std::optional<Loud>, 8> kLoud{
      std::nullopt,      std::nullopt, Loud::nan_value, std::nullopt,
      Loud::large_value, std::nullopt, Loud::nan_key,   Loud::nan_value};
  for (std::size_t i = 0; i < count; ++i)
    for (int tries = 0; tries < kTries; ++tries)
      if (auto of = redrawn(draw, *like[i % like.size()], values,
                            kLoud[i / like.size() % kLoud.size()])) {
        drawn.push_back(std::move(*of));
        break;
      }
  return drawn;
}

Case plain_case(const Case& like) {
  Case plain = like;
  Problem& problem = plain.problem;
  problem = {};
  problem.batch = like.problem.batch;
  problem.heads_q = like.problem.heads_q;
  problem.heads_kv = like.problem.heads_kv;
  problem.seq_q = std::max(like.problem.seq_q, Index{3});
  problem.seq_kv = std::max(like.problem.seq_kv, Index{6});
  problem.head_dim = std::max(like.problem.head_dim, Index{4});
  problem.head_dim_v = std::max(like.problem.head_dim_v, Index{4});
  problem.dtype = like.problem.dtype;
  problem.out_storage = like.problem.out_storage;
  problem.lse = like.problem.lse;
  plain.tiling.splits = {};
  plain.tiling.merge = {};
  plain.bias = plain.sink = plain.qv = plain.dout = plain.dlse = {};
  fill_family(plain, "normal", 1);
  becomes_literal(plain);
  return plain;
}

}  // namespace attest::properties
