// Where in the work of its kernel a row goes wrong: error / bound of a row when only the keys of
// one tile are visible to it. The kernel runs on the same case with one mask more, and is judged as
// always: a tile that is skipped, read twice or masked wrongly shows in its own column alone.
// Mistakes between tiles (a rescale, a merge) show in no column: then the note says so.
#pragma once

#include <string>
#include <vector>

#include "attest/kernel.hpp"
#include "properties/case.hpp"

namespace attest::properties {

/// Limits of the work, in numbers of things: the map does not depend on the machine.
inline constexpr Index kMapWorstRows = 16;  ///< with a neighbour on both sides: 48 rows
inline constexpr Index kMapTiles = 64;      ///< more are taken together
/// Numbers of k and v that are read for all tiles together; a larger case is cut to one head.
inline constexpr Index kMapWork = Index{1} << 31;

struct TileMap {
  std::vector<RowIndex> rows;   ///< of the whole case, in its order
  std::vector<KeyRange> tiles;  ///< none is empty
  std::vector<double> whole;    ///< error / bound of the row with all its keys
  std::vector<double> ratio;    ///< rows x tiles; NaN: no key of the tile is visible, or no bound
  Index tile_q = 0;
  Index tile_kv = 0;
  std::string note;  ///< one line: what was left out, or why the map is empty; or nothing
};

/// The rows with the largest error / bound, and the rows before and behind them. The tiles are
/// those that the kernel declares as its own, else those of the case. `worst` names the head that a
/// case which is too large is cut to.
TileMap tile_map(const Kernel& kernel, const Case& on, const RowIndex& worst);

}  // namespace attest::properties
