// What wrong kernels read of a row: numbers by logical index, descaled, in double.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "properties/case.hpp"
#include "reference/oracle.hpp"

namespace attest::properties {

class StandInReader {
 public:
  StandInReader(const Case& of, const RowIndex& row);
  /// With another key/value head than that of the row.
  StandInReader(const Case& of, const RowIndex& row, Index kv_head);
  StandInReader(const StandInReader&) = delete;
  StandInReader& operator=(const StandInReader&) = delete;

  double product(Index key) const;
  std::vector<double> value(Index key) const;
  /// Of any key, also a masked one; not finite where an additive mask excludes it.
  double score(Index key) const;
  /// The output of the row if it saw these keys; nothing where a score is not finite. Zeros without
  /// keys.
  std::optional<std::vector<double>> output(const std::vector<Index>& keys) const;

 private:
  const Case& of_;
  RowIndex row_;
  Index kv_head_;
  reference::Inputs inputs_;
  reference::RowReader reader_;
  std::vector<double> query_;
};

double capped(double score, double softcap);

using StandInOutput = std::optional<std::vector<double>>;

// Outputs of further stand-ins (properties/stand_ins.hpp), in files of their own.
StandInOutput alignment_plus_one(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput alignment_minus_one(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput window_plus_one(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput window_minus_one(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput wrong_head_map(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput scale_too_large(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput scale_too_small(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput tile_skipped(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput rescale_forgotten(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput weights_in_lower_type(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput value_of_largest(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput one_row_zeroed(const Case& of, const RowIndex& row, const RowFacts& facts);
StandInOutput two_rows_swapped(const Case& of, const RowIndex& row, const RowFacts& facts);

}  // namespace attest::properties
