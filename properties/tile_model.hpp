// A model in double of how a kernel forms a row tile by tile, with one step that may be wrong.
#pragma once

#include <optional>
#include <vector>

#include "properties/diagnosis_run.hpp"

namespace attest::properties {

/// The steps of which one is wrong.
struct TileMistake {
  enum class Rescale {
    right,
    not_numerator,
    not_sum,
    neither,
    inverted,          ///< exp(new - old) in merges
    not_while_lagging  ///< within the declared lag
  };
  enum class Maximum { running, of_last_tile };
  enum class Merge { right, average, larger_side, no_rescale, right_sum_times_256 };
  enum class Tiles { all, no_partial, no_last, no_first };

  Rescale rescale = Rescale::right;
  Maximum maximum = Maximum::running;
  Merge merge = Merge::right;
  Tiles tiles = Tiles::all;
  bool sum_lacks_last_key = false;
  /// Instead of what is declared: the type of weights before they multiply v.
  std::optional<WeightCast> cast = {};
  bool cut = false;       ///< to that type towards zero, not to nearest
  bool saturate = false;  ///< at its largest number
  std::optional<Format> output_format = {};
  bool cut_output = false;
  std::optional<Format> rescale_format = {};
  bool rescale_format_in_merges = false;
  /// Weights and output are followed more closely than the declared bound does.
  bool fine = false;
};

/// The ranges of keys that have a summary each.
std::vector<KeyRange> units_of(const DiagnosedRun& run, SummaryScope scope);

/// The row as a kernel with the mistake gives it: whose summaries belong to `scope`. Nothing where
/// the row has no bound, or the model overflows.
std::optional<RowPrediction> model_row(const DiagnosedRun& run, const RowIndex& row,
                                       const TileMistake& mistake, SummaryScope scope);

/// What the mistake is in a kernel of this accuracy; nothing where there is none.
using TileMistakeOf = std::optional<TileMistake> (*)(const DeclaredAccuracy&);

/// With all scopes of summaries as forms.
std::vector<Form> tile_forms(const TileMistake& mistake);
std::vector<Form> tile_forms(TileMistakeOf mistake);
Alternative tile_alternative(std::string_view name, std::string_view sentence,
                             const std::vector<TileMistake>& mistakes);

/// How wrong a row of a model in double may be: `share` times the sum of the magnitudes of its
/// terms, beside the bound of the right row.
double share_of_magnitude(const RowFacts& facts, const RowBound& bound);

}  // namespace attest::properties
