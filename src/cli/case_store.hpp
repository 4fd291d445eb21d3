// Saved cases: a folder with case.json (what and why) and case.safetensors (every tensor of
// the case, bit exact).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "attest/verdict.hpp"
#include "properties/case.hpp"

namespace attest::cli {

/// How a climb found a case.
struct SearchRecord {
  double ratio = 0;       ///< error / bound
  Index evaluation = 0;   ///< by which it was found, counted from 1
  Index evaluations = 0;  ///< all that were spent, by every run that went on with it
  std::string stage;
  std::string among;  ///< what was searched: "at most 16 keys", or the line of one problem
};

struct StoredCase {
  std::string kernel;
  std::string law;
  std::uint64_t seed = 0;  ///< of the run that found it
  Verdict verdict;
  properties::Case value;
  std::optional<SearchRecord> search = {};
};

/// Writes the case below `folder`/ID, where ID is a hash of kernel, law and case; returns that
/// folder.
Result<std::filesystem::path> save_case(const std::filesystem::path& folder,
                                        const StoredCase& stored);

/// Reads a folder written by save_case. The tensors come from case.safetensors alone, so that a
/// change of the generators never changes an old case. The verdict is not read back.
Result<StoredCase> load_case(const std::filesystem::path& folder);

/// The two files of a saved case.
struct CaseFiles {
  std::string_view json;
  std::span<const std::byte> tensors;
};

/// The same from memory; `folder` is where they are from, for messages.
Result<StoredCase> parse_case(const CaseFiles& files, const std::filesystem::path& folder);

/// A program that ends in the middle of it leaves a whole case, or none. No error: the folder is
/// gone.
std::error_code remove_case(const std::filesystem::path& folder);

/// Whether a folder is a saved case.
bool is_case_folder(const std::filesystem::path& folder);

struct LoadedCase {
  std::filesystem::path folder;
  StoredCase stored;
};

/// A folder that is a saved case, and every saved case below it, by name.
Result<std::vector<LoadedCase>> load_cases(const std::filesystem::path& folder);

}  // namespace attest::cli
