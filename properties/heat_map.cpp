#include "properties/heat_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// The case, or one head of it.
struct Mapped {
  Case on;
  RowIndex first;  ///< of the whole case: what row 0 of `on` is there
};

Index work_of_a_run(const Problem& problem) {
  return problem.rows() * problem.seq_kv * (problem.head_dim + problem.head_dim_v);
}

Mapped mapped_part(const Case& whole, const RowIndex& worst, Index tiles) {
  Case on = forward_only(whole);
  // A tile that a row does not see must not stop the call.
  on.problem.all_masked = AllMaskedPolicy::zero;
  on.problem.empty_lse = -std::numeric_limits<double>::infinity();
  if (work_of_a_run(on.problem) <= kMapWork / std::max(tiles, Index{1})) return {on, {}};
  return {single_head(single_member(on, worst.batch), worst.head), {worst.batch, worst.head, 0}};
}

std::vector<KeyRange> tiles_of(const DeclaredAccuracy& accuracy, const Case& on) {
  Tiling tiling = accuracy.own_tiling.value_or(on.tiling);
  if (!accuracy.own_tiling && accuracy.longest_tile > 0)
    tiling.tile_kv = std::min(tiling.tile_kv, accuracy.longest_tile);
  std::vector<KeyRange> tiles = all_tiles(tiling, on.problem.seq_kv);
  std::erase_if(tiles, [](const KeyRange& tile) { return tile.begin == tile.end; });
  const auto most = static_cast<std::size_t>(kMapTiles);
  const std::size_t together = (tiles.size() + most - 1) / most;
  std::vector<KeyRange> joined;
  for (std::size_t t = 0; t < tiles.size(); t += together)
    joined.push_back({tiles[t].begin, tiles[std::min(t + together, tiles.size()) - 1].end});
  return joined;
}

Case seeing_only(Case on, const KeyRange& tile) {
  const Problem& problem = on.problem;
  MaskBits bits{problem.mask.bits ? problem.mask.bits->rows : 1, problem.seq_kv, {}};
  for (Index row = 0; row < bits.rows; ++row)
    for (Index key = 0; key < bits.columns; ++key)
      bits.visible.push_back(key >= tile.begin && key < tile.end &&
                             (!problem.mask.bits || problem.mask.bits->at(row, key)));
  on.problem.mask.bits = std::move(bits);
  return on;
}

/// NaN where there is nothing to compare, or no bound to compare with.
double ratio_of(const Truth& truth, const RowIndex& row, const Outputs& outputs) {
  const auto exact = truth.row(row);
  if (!exact || exact->facts.visible_keys() == 0 || !exact->bound.proven()) return kNoNumber;
  double largest = 0;
  for (std::size_t c = 0; c < exact->facts.output.size(); ++c) {
    double error = exact->facts.output[c].distance_upper(outputs.at(row, static_cast<Index>(c)));
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (error != 0) largest = std::max(largest, error / exact->bound.output[c]);
  }
  return largest;
}

/// The worst rows and their neighbours, in the order of the problem, with their ratios.
void choose_rows(const Kernel& kernel, const Case& on, const Outputs& outputs, TileMap& map) {
  const std::vector<RowIndex> rows = all_rows(on.problem);
  const Truth truth(kernel, on);
  std::vector<double> ratios;
  std::vector<std::size_t> by_ratio;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ratios.push_back(ratio_of(truth, rows[i], outputs));
    if (!std::isnan(ratios[i])) by_ratio.push_back(i);
  }
  std::stable_sort(by_ratio.begin(), by_ratio.end(),
                   [&](std::size_t a, std::size_t b) { return ratios[a] > ratios[b]; });
  std::vector<bool> chosen(rows.size(), false);
  for (std::size_t n = 0; n < std::min(by_ratio.size(), static_cast<std::size_t>(kMapWorstRows));
       ++n) {
    const std::size_t i = by_ratio[n];
    chosen[i] = true;
    if (i > 0 && rows[i].query > 0) chosen[i - 1] = true;
    if (i + 1 < rows.size() && rows[i + 1].query > 0) chosen[i + 1] = true;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!chosen[i]) continue;
    map.rows.push_back(rows[i]);
    map.whole.push_back(ratios[i]);
  }
  if (map.rows.size() < rows.size())
    map.note = std::to_string(map.rows.size()) + " of " + std::to_string(rows.size()) +
               " rows: the worst ones and their neighbours";
}

void say(TileMap& map, const std::string& text) {
  map.note += (map.note.empty() ? "" : "; ") + text;
}

bool above(const std::vector<double>& ratios, double limit) {
  return std::any_of(ratios.begin(), ratios.end(), [&](double one) { return one > limit; });
}

}  // namespace

TileMap tile_map(const Kernel& kernel, const Case& whole, const RowIndex& worst) {
  const auto tiles_in = [&](const Case& of) { return tiles_of(kernel.accuracy(of.problem), of); };
  const Mapped mapped = mapped_part(whole, worst, static_cast<Index>(tiles_in(whole).size()));
  const Case& on = mapped.on;
  TileMap map;
  map.tile_q = on.tiling.tile_q;
  map.tile_kv = kernel.accuracy(on.problem).own_tiling.value_or(on.tiling).tile_kv;
  const Outputs outputs = run_kernel(kernel, on);
  if (!outputs.status.ok()) {
    map.note = "the kernel gave no outputs: " + outputs.status.message();
    return map;
  }
  choose_rows(kernel, on, outputs, map);
  if (mapped.on.problem.rows() < whole.problem.rows()) say(map, "one head of a large case");
  map.tiles = tiles_in(on);
  map.ratio.assign(map.rows.size() * map.tiles.size(), kNoNumber);
  for (std::size_t t = 0; t < map.tiles.size(); ++t) {
    const Case part = seeing_only(on, map.tiles[t]);
    const Outputs of_tile = run_kernel(kernel, part);
    if (!of_tile.status.ok()) {
      say(map, "the kernel does not run on one tile: " + of_tile.status.message());
      map.tiles.clear();
      map.ratio.clear();
      break;
    }
    const Truth truth(kernel, part);
    for (std::size_t i = 0; i < map.rows.size(); ++i)
      map.ratio[i * map.tiles.size() + t] = ratio_of(truth, map.rows[i], of_tile);
  }
  if (above(map.whole, 1) && !map.ratio.empty() && !above(map.ratio, 1))
    say(map, "no tile is wrong by itself: the error is made between tiles");
  for (RowIndex& row : map.rows) {
    row.batch += mapped.first.batch;
    row.head += mapped.first.head;
  }
  return map;
}

}  // namespace attest::properties
