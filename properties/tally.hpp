// Collects comparisons of one law on one case and turns them into a verdict.
#pragma once

#include <string>

#include "attest/verdict.hpp"

namespace attest::properties {

/// What is compared: one element of a tensor.
struct Place {
  std::string_view tensor;
  RowIndex row;
  Index column = 0;
};

class Tally {
 public:
  /// |got - want| <= bound. `informative`: the bound is small against what it limits.
  void within(const Place& place, double got, const Enclosure& want, double bound,
              bool informative = true);
  /// |a - b| <= bound, both computed.
  void agree(const Place& place, double a, double b, double bound, bool informative = true);
  /// Same value, bit for bit (all NaNs are one value); `reason` says what should not have mattered.
  void same_bits(const Place& place, double got, double want, std::string_view reason);
  /// A yes-or-no statement about one place.
  void holds(bool statement, const Place& place, double got, double want, std::string_view reason);
  /// A row, or whatever the law counts, is complete.
  void end_row();
  /// Something could not be judged.
  void undecided(std::string reason);

  Verdict verdict() const;

 private:
  void record(const Place& place, double got, const Enclosure& want, double error, double bound,
              bool violated, std::string_view reason);

  Verdict verdict_;
  bool failed_ = false;
  bool row_failed_ = false;
  Index compared_ = 0;
  Index informative_ = 0;
  std::string undecided_;
};

}  // namespace attest::properties
