// A case as text: the line that replays it, and the numbers of its tensors.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "attest/kernel.hpp"
#include "properties/case.hpp"

namespace attest::cli {

/// In single quotes, as a POSIX shell reads it back.
std::string shell_quoted(const std::string& text);

/// "attest replay KERNEL 'LINE'", or the saved folder when the line would be unwieldy.
std::string replay_command_line(const Kernel& kernel, const properties::Case& of,
                                std::string_view law, const std::filesystem::path& saved);

/// The problem of a case, without the numbers of its tensors.
std::string problem_text(const properties::Case& of);

/// The parts of a mask in a word: "none", "causal", "causal+win".
std::string mask_word(const Mask& mask);

/// What a table of accuracy calls the problem: its mask where it has no other feature, the one
/// feature of a problem without a mask, else "combined".
std::string variant_word(const Problem& problem);

/// Every tensor of the case in decimal and hex floats, one line a tensor.
std::string values_text(const properties::Case& of);

}  // namespace attest::cli
