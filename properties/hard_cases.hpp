// Replay lines of cases that broke a kernel somewhere, or came closest to a bound. Run first.
#pragma once

#include <string_view>
#include <vector>

namespace attest::properties {

/// One line of hard_cases.txt.
struct HardCaseLine {
  std::string_view problem;  ///< the text before '#', without blanks at its end
  std::string_view comment;  ///< the text after it (properties/expected_values.hpp)
};

/// The lines that have a problem.
std::vector<HardCaseLine> annotated_hard_cases();

/// Their problems alone.
std::vector<std::string_view> hard_case_lines();

}  // namespace attest::properties
