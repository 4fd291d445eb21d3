// What a replay line says about the exact results: the comment of a line of hard_cases.txt.
//
//   [Bnn [also]] want NAME=[NUMBER,...] [NAME=[NUMBER,...]]... [words]
//   [Bnn [also]] free REASON
//
// Bnn is the number of a public report. NAME is out, lse, dq, dk, dv, dbias or dsink. The numbers
// are in the order batch, head, row, column; `_` says nothing about its element. A whole number,
// an infinity and nan are meant exactly; digits after a point mean the exact value to half a unit
// of the last of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attest/enclosure.hpp"
#include "attest/status.hpp"

namespace attest::properties {

struct ExpectedNumber {
  bool stated = true;
  double value = 0;
  double half_unit = 0;  ///< 0: exactly `value`

  /// Whether every number that the enclosure allows is one that this text can mean; for an exact
  /// one, whether the enclosure holds it. Where nothing is stated, always.
  bool agrees(const Enclosure& exact) const;
};

struct ExpectedTensor {
  std::string name;
  std::vector<ExpectedNumber> numbers;
};

struct Expectation {
  std::string report;  ///< "B01"; empty: none
  bool also = false;   ///< a further line of its report
  bool free = false;   ///< nothing is expected, for the reason in `words`
  std::vector<ExpectedTensor> want;
  std::string words;
};

/// Reads the part of a line after its '#'.
Result<Expectation> parse_expectation(std::string_view comment);

}  // namespace attest::properties
