// The words of a problem text, one by one, as the conditions of a ledger see them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "attest/problem_text.hpp"

namespace attest::cli {

/// Every key of the canonical text with its value, and the shape and the types under keys of their
/// own: b hq hkv lq lk d dv dtype. The value of a literal `vals` is "lit".
std::map<std::string, std::string> problem_words(const ProblemText& text);

/// A finite decimal number; nothing for any other text.
std::optional<double> number_of(std::string_view text);

}  // namespace attest::cli
