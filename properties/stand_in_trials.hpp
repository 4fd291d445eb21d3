// Would the bound of a case have accepted a wrong output? Counted, not judged.
#pragma once

#include <string>
#include <vector>

#include "attest/verdict.hpp"
#include "properties/stand_ins.hpp"

namespace attest::properties {

/// Holds every stand-in against the bounds of a case, row by row. One that a row has refused costs
/// nothing in the rows after it: most are refused by the first number.
class StandInTrials {
 public:
  explicit StandInTrials(const Case& of) : of_(of), seen_(stand_ins().size()) {}

  /// Precondition: the row has a visible key.
  void look_at(const RowIndex& row, const reference::CertifiedRow& exact);
  /// Those that differ from the truth somewhere; the others are right on this case.
  std::vector<StandInTrial> trials() const;

 private:
  struct Seen {
    bool differs = false;
    bool refused = false;
  };
  void compare(Seen& seen, const reference::CertifiedRow& exact,
               const std::vector<double>& output) const;

  const Case& of_;
  std::vector<Seen> seen_;
};

/// The same of the lse: that of the other base, and the maximum alone.
class LseTrials {
 public:
  void look_at(const reference::CertifiedRow& exact, const Problem& problem);
  std::vector<StandInTrial> trials() const;

 private:
  struct Seen {
    bool differs = false;
    bool refused = false;
  };
  static void try_out(Seen& seen, const reference::CertifiedRow& exact, double lse);

  Seen other_base_;
  Seen maximum_;
};

/// A case whose limits accept a larger share of the stand-ins is weak: it says less than a coin.
inline constexpr double kMostAccepted = 0.5;

/// Why a case is weak, or nothing.
std::string low_power(const std::vector<StandInTrial>& trials);

}  // namespace attest::properties
