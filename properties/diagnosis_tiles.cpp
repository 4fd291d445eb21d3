// Mistakes in how the tiles of a row are put together.
#include "properties/diagnosis_alternatives.hpp"
#include "properties/tile_model.hpp"

namespace attest::properties {
namespace {

TileMistake rescales(TileMistake::Rescale rescale) {
  TileMistake mistake;
  mistake.rescale = rescale;
  return mistake;
}
TileMistake merges(TileMistake::Merge merge) {
  TileMistake mistake;
  mistake.merge = merge;
  return mistake;
}
TileMistake leaves_out(TileMistake::Tiles tiles) {
  TileMistake mistake;
  mistake.tiles = tiles;
  return mistake;
}

TileMistake newest_maximum() {
  TileMistake mistake;
  mistake.maximum = TileMistake::Maximum::of_last_tile;
  mistake.rescale = TileMistake::Rescale::right;
  return mistake;
}
TileMistake sum_lacks_last_key() {
  TileMistake mistake;
  mistake.sum_lacks_last_key = true;
  return mistake;
}

}  // namespace

void append_tile_alternatives(Alternatives& to) {
  using Rescale = TileMistake::Rescale;
  using Merge = TileMistake::Merge;
  using Tiles = TileMistake::Tiles;
  to.push_back(tile_alternative("numerator not rescaled",
                                "a new maximum rescales the sum but not the numerator",
                                {rescales(Rescale::not_numerator)}));
  to.push_back(tile_alternative("sum not rescaled",
                                "a new maximum rescales the numerator but not the sum",
                                {rescales(Rescale::not_sum)}));
  to.push_back(tile_alternative("rescale forgotten", "a new maximum rescales nothing",
                                {rescales(Rescale::neither)}));
  to.push_back(tile_alternative("rescale inverted",
                                "the lighter side is multiplied by exp(new maximum - old one)",
                                {rescales(Rescale::inverted)}));
  to.push_back(
      tile_alternative("no rescale while the maximum lags",
                       "where the lag saves a rescale, new weights are relative to the new maximum",
                       {rescales(Rescale::not_while_lagging)}));
  to.push_back(tile_alternative("maximum of the last tile",
                                "the maximum of a tile replaces the running maximum",
                                {newest_maximum()}));
  to.push_back(tile_alternative("unweighted average of parts",
                                "outputs of tiles or splits are averaged without their mass",
                                {merges(Merge::average)}));
  to.push_back(tile_alternative("larger side kept",
                                "a merge keeps the side with the larger maximum",
                                {merges(Merge::larger_side)}));
  to.push_back(tile_alternative("merge without rescale",
                                "a merge adds both sides without rescaling either",
                                {merges(Merge::no_rescale)}));
  to.push_back(tile_alternative("sum of one side carries an offset of 2^8",
                                "a merge forgets to undo the offset of the weights in one sum",
                                {merges(Merge::right_sum_times_256)}));
  to.push_back(tile_alternative("last partial tile skipped",
                                "the last tile of a split is left out when it is not full",
                                {leaves_out(Tiles::no_partial)}));
  to.push_back(tile_alternative("last tile skipped", "the last tile of a split is left out",
                                {leaves_out(Tiles::no_last)}));
  to.push_back(tile_alternative("first tile skipped", "the first tile of a split is left out",
                                {leaves_out(Tiles::no_first)}));
  to.push_back(tile_alternative("sum lacks the last key of a tile",
                                "the sum of weights misses one key of every tile",
                                {sum_lacks_last_key()}));
}

}  // namespace attest::properties
