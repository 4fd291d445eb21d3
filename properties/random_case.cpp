#include "properties/random_case.hpp"

#include <algorithm>
#include <array>

#include "properties/random_features.hpp"
#include "properties/random_parts.hpp"
#include "properties/random_small.hpp"
#include "properties/values.hpp"

namespace attest::properties {
namespace {

/// Lengths around a tile: 0, 1, tile-1, tile, tile+1, two tiles, sometimes something larger.
Index draw_keys(Draw& draw, Index tile) {
  switch (draw.below(12)) {
    case 0:
      return 1;
    case 1:
      return 2;
    case 2:
      return std::max(Index{1}, tile - 1);
    case 3:
      return tile;
    case 4:
      return tile + 1;
    case 5:
      return 2 * tile;
    case 6:
      return 2 * tile + 1;
    case 7:
      return 3 * tile;
    case 8:
      return draw.chance(20) ? 0 : 4;
    case 9:
      return draw.chance(30) ? draw.between(30, 70) : draw.between(1, 12);
    default:
      return draw.between(1, 14);
  }
}

/// Sizes beyond the usual ones, each alone, so that no case becomes slow.
void draw_large(Draw& draw, Problem& problem) {
  constexpr std::array<Index, 3> dims{32, 64, 96};
  const std::uint64_t kind = draw.below(100);
  if (kind >= 95)
    problem.head_dim = draw.one_of<Index>(dims);
  else if (kind >= 85)
    problem.seq_q = draw.between(8, 40);
  else if (kind >= 83)
    problem.seq_kv = draw.between(100, 300);
}

void draw_tiles(Draw& draw, Tiling& tiling) {
  constexpr std::array<Index, 8> tiles{2, 1, 3, 4, 4, 5, 8, 16};
  tiling.tile_kv = draw.one_of<Index>(tiles);
  tiling.tile_q = draw.one_of<Index>(tiles);
}

void draw_shape(Draw& draw, const CaseLimits& limits, Case& into) {
  constexpr std::array<Index, 8> dims{1, 2, 2, 3, 4, 5, 8, 16};
  Problem& problem = into.problem;
  draw_tiles(draw, into.tiling);
  problem.batch = draw.chance(30) ? draw.between(2, 3) : 1;
  problem.heads_kv = draw.chance(25) ? draw.between(2, 3) : 1;
  problem.heads_q =
      problem.heads_kv * (limits.grouped_heads && draw.chance(25) ? draw.between(2, 4) : 1);
  problem.seq_kv = draw_keys(draw, into.tiling.tile_kv);
  problem.seq_q = draw.chance(20) ? 1 : draw.between(1, 7);
  if (draw.chance(2)) problem.seq_q = 0;
  problem.head_dim = draw.one_of<Index>(dims);
  draw_large(draw, problem);
  problem.head_dim_v = draw.chance(70) ? problem.head_dim : draw.one_of<Index>(dims);
  if (limits.small) keep_small(into);
  problem.dtype = draw.one_of<Dtype>(limits.dtypes);
  if (draw.chance(20)) problem.scale = {false, draw.chance(50) ? 1.0 : 0.3};
  if (!problem.scale.reciprocal_sqrt) problem.scale.value = scale_value(problem);
  problem.lse = limits.lse && draw.chance(90) ? LseForm::natural : LseForm::none;
  if (limits.key_lengths && problem.batch > 1 && draw.chance(60)) {
    for (Index b = 0; b < problem.batch; ++b)
      problem.key_lengths.push_back(draw.chance(30) ? 0 : draw.between(0, problem.seq_kv));
    // Some member keeps its keys: a batch without any tests little.
    problem.key_lengths[draw.below(problem.key_lengths.size())] = problem.seq_kv;
    // The text of a ragged problem keeps no more rows than its longest member needs.
    problem.seq_kv = *std::max_element(problem.key_lengths.begin(), problem.key_lengths.end());
  }
}

}  // namespace

MaskBits draw_bits(Draw& draw, const Problem& problem) {
  MaskBits bits{draw.chance(30) ? 1 : problem.seq_q, problem.seq_kv, {}};
  const auto density = static_cast<unsigned>(draw.between(10, 90));
  for (Index row = 0; row < bits.rows; ++row) {
    const bool row_dead = draw.chance(20);
    for (Index key = 0; key < bits.columns; ++key)
      bits.visible.push_back(!row_dead && draw.chance(density));
  }
  return bits;
}

namespace {

MaskBits dead_tile_bits(const Case& into, Index tile) {
  MaskBits bits{1, into.problem.seq_kv, {}};
  for (Index key = 0; key < bits.columns; ++key)
    bits.visible.push_back(key / into.tiling.tile_kv != tile);
  return bits;
}

void draw_mask(Draw& draw, const CaseLimits& limits, Case& into) {
  Mask& mask = into.problem.mask;
  const Problem& problem = into.problem;
  const bool bits_fit = limits.mask_bits && problem.seq_q > 0 && problem.seq_kv <= 40;
  const std::uint64_t kind = draw.below(10);
  if (kind >= 3 && kind < 8) {
    Causal causal;
    switch (draw.below(3)) {
      case 0:
        causal.alignment = Causal::Alignment::top_left;
        break;
      case 1:
        causal.alignment = Causal::Alignment::bottom_right;
        break;
      default:
        causal.alignment = Causal::Alignment::explicit_offset;
        causal.offset = draw.between(-problem.seq_q, problem.seq_kv);
    }
    mask.causal = causal;
  }
  if (kind < 7 || !bits_fit) return;
  const bool some_tile_lives = problem.seq_kv > into.tiling.tile_kv;
  mask.bits =
      some_tile_lives && draw.chance(50) ? dead_tile_bits(into, 0) : draw_bits(draw, problem);
}

bool sees_something(const Problem& problem) {
  for (Index b = 0; b < problem.batch; ++b)
    if (classify(problem, b, 0, problem.seq_q, 0, problem.seq_kv) != TileClass::empty) return true;
  return false;
}

}  // namespace

void draw_cuts(Draw& draw, Index seq_kv, Tiling& tiling) {
  switch (draw.below(4)) {
    case 0:
      break;
    case 1:
      tiling.splits.count = draw.between(1, 4);
      break;
    case 2:
      tiling.splits.count = draw.between(1, seq_kv + 3);
      break;
    default:
      for (Index cuts = draw.between(1, 4); cuts > 0; --cuts)
        tiling.splits.cuts.push_back(draw.between(0, seq_kv));
      std::sort(tiling.splits.cuts.begin(), tiling.splits.cuts.end());
  }
  constexpr std::array kinds{MergeOrder::Kind::left, MergeOrder::Kind::right,
                             MergeOrder::Kind::balanced, MergeOrder::Kind::random,
                             MergeOrder::Kind::random};
  tiling.merge.kind = draw.one_of<MergeOrder::Kind>(kinds);
  if (tiling.merge.kind == MergeOrder::Kind::random) tiling.merge.seed = draw.below(1000);
}

namespace {

std::string mask_class(const Mask& mask) {
  if (mask.none()) return "mask none";
  if (mask.causal && mask.bits) return "mask causal+bits";
  if (mask.bits) return "mask bits";
  return mask.causal ? "mask causal" : "mask without diagonal and bits";
}

std::string_view order_class(Layout::Order order) {
  switch (order) {
    case Layout::Order::bshd:
      return "layout bshd";
    case Layout::Order::bhsd:
      return "layout bhsd";
    case Layout::Order::sbhd:
      return "layout sbhd";
    case Layout::Order::thd:
      break;
  }
  return "layout thd";
}

void append_feature_classes(const Problem& problem, std::vector<std::string>& found) {
  const std::vector<Feature> features = features_of(problem);
  for (const Feature feature : features) found.emplace_back(to_string(feature));
  if (features.empty() && problem.layout.dense_bshd()) found.emplace_back("plain");
  found.emplace_back(order_class(problem.layout.order));
  if (!problem.layout.dense_bshd()) found.emplace_back("layout not dense");
  if (problem.kv.kind == KvStorage::Kind::dense) found.emplace_back("dense k and v");
  for (Index b = 0; b < problem.batch; ++b)
    if (problem.key_length(b) == 0 || problem.query_length(b) == 0) {
      found.emplace_back("member of length 0");
      break;
    }
}

/// Limits of a case without features: no type that needs one.
CaseLimits plain_limits(CaseLimits limits) {
  limits.features.clear();
  const auto needs_another_output = [](Dtype dtype) { return is_fp8(dtype); };
  if (!std::all_of(limits.dtypes.begin(), limits.dtypes.end(), needs_another_output))
    std::erase_if(limits.dtypes, needs_another_output);
  return limits;
}

}  // namespace

void draw_values(Draw& draw, const CaseLimits& limits, Case& into) {
  const std::uint64_t seed = draw.below(1'000'000);
  if (limits.library != nullptr && !limits.library->all().empty() && draw.chance(8)) {
    const auto all = limits.library->all();
    const tensors::RealAttention& source = all[draw.below(all.size())];
    into.values = {ValueRecipe::Kind::real, source.name, seed, {}, {}, {}};
    fill_real(into, source, seed);
    return;
  }
  const auto families = value_families();
  const ValueFamily& family = families[draw.below(families.size())];
  // A dead first tile hurts most when every later score is below zero.
  const bool dead_first_tile = into.problem.mask.bits && into.problem.mask.bits->rows == 1;
  into.values = {ValueRecipe::Kind::family,
                 std::string(dead_first_tile && draw.chance(60) ? "very_negative" : family.name),
                 seed,
                 {},
                 {},
                 {}};
  fill_family(into, into.values.name, seed);
}

Tiling draw_tiling(Draw& draw, Index seq_kv) {
  Tiling tiling;
  draw_tiles(draw, tiling);
  draw_cuts(draw, seq_kv, tiling);
  return tiling;
}

bool CaseLimits::has(Feature feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

CaseLimits all_limits() {
  CaseLimits limits;
  limits.dtypes.assign(kDtypes.begin(), kDtypes.end());
  limits.features.assign(all_features().begin(), all_features().end());
  return limits;
}

Case draw_case(Draw& draw, const CaseLimits& offered) {
  const bool plain = offered.features.empty() || !draw.chance(60);
  const CaseLimits limits =
      plain || !offered.has(Feature::out_dtype) ? plain_limits(offered) : offered;
  Case drawn;
  draw_shape(draw, limits, drawn);
  draw_mask(draw, limits, drawn);
  // A case in which no row sees a key tests little; a few are kept.
  if (!sees_something(drawn.problem) && draw.chance(80)) drawn.problem.mask = {};
  if (!plain) draw_features(draw, offered, drawn);
  draw_cuts(draw, drawn.problem.seq_kv, drawn.tiling);
  draw_values(draw, limits, drawn);
  return drawn;
}

std::vector<std::string> classes(const Case& of) {
  const Problem& problem = of.problem;
  std::vector<std::string> found{mask_class(problem.mask)};
  const auto any_member = [&](const auto& condition) {
    for (Index b = 0; b < problem.batch; ++b)
      if (condition(b)) return true;
    return false;
  };
  const auto is_empty = [&](Index b, Index query_begin, Index query_end, KeyRange keys) {
    return classify(problem, b, query_begin, query_end, keys.begin, keys.end) == TileClass::empty;
  };
  const bool empty_row = any_member([&](Index b) {
    for (Index query = 0; query < problem.query_length(b); ++query)
      if (is_empty(b, query, query + 1, {0, problem.seq_kv})) return true;
    return false;
  });
  const auto some_range_empty = [&](const std::vector<KeyRange>& ranges) {
    return problem.seq_q > 0 && any_member([&](Index b) {
             return std::any_of(ranges.begin(), ranges.end(), [&](KeyRange range) {
               return is_empty(b, 0, problem.seq_q, range);
             });
           });
  };
  if (empty_row) found.emplace_back("empty row");
  if (some_range_empty(all_tiles(of.tiling, problem.seq_kv))) found.emplace_back("empty tile");
  if (some_range_empty(split_ranges(of.tiling, problem.seq_kv))) found.emplace_back("empty split");
  if (problem.seq_q == 1) found.emplace_back("seq_q = 1");
  if (problem.seq_q != problem.seq_kv) found.emplace_back("seq_q != seq_kv");
  if (!problem.key_lengths.empty()) found.emplace_back("ragged");
  if (problem.heads_q != problem.heads_kv) found.emplace_back("grouped heads");
  found.emplace_back(of.values.kind == ValueRecipe::Kind::real ? "values real"
                                                               : "values " + of.values.name);
  found.emplace_back(to_string(problem.dtype));
  append_feature_classes(problem, found);
  return found;
}

}  // namespace attest::properties
