// Replay lines of cases that broke a kernel somewhere, or came closest to a bound. Run first.
#pragma once

#include <string_view>
#include <vector>

namespace attest::properties {

/// The lines of hard_cases.txt without comments and blanks.
std::vector<std::string_view> hard_case_lines();

}  // namespace attest::properties
