// JSON files that attest wrote itself, read with the care that a file from anywhere needs: memory
// and stack are bounded whatever the file holds. Internal to this room.
#pragma once

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "attest/dtype.hpp"
#include "attest/status.hpp"

namespace attest::cli {

using SavedJson = nlohmann::ordered_json;

/// Of a file in bytes; a list of short numbers takes some 17 times as much memory. A case has its
/// problem in one line, which may list a mask bit by bit; a state of a run has a few numbers a
/// kernel.
inline constexpr std::uintmax_t kMaxCaseFile = std::uintmax_t{1} << 23;
inline constexpr std::uintmax_t kMaxStateFile = std::uintmax_t{1} << 20;

/// The bytes of a regular file; an error where it cannot be read or is larger than `most`.
Result<std::string> read_saved_text(const std::filesystem::path& path, std::uintmax_t most);

/// An object whose member "format" is `format`; null for every other text, and for one that nests
/// deeper than anything that attest writes.
SavedJson parse_saved_json(std::string_view text, std::string_view format);

/// The text of a member; empty where it is missing or no text.
std::string text_member(const SavedJson& json, const char* name);

/// A member that counts something, from 0 to `most`. Throws std::out_of_range for what is no such
/// number, and what nlohmann's own access throws where there is none.
Index count_member(const SavedJson& json, const char* name,
                   Index most = std::numeric_limits<Index>::max());

/// A member that is a finite number of 0 or more; throws alike.
double number_member(const SavedJson& json, const char* name);

/// What `read` makes of members, a Result; an error that begins with `name` where one of them is
/// missing, of another type or out of range.
template <class Read>
auto read_members(const std::string& name, const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const SavedJson::exception& problem) {
    return Status{StatusCode::io_error, name + ": " + problem.what()};
  } catch (const std::out_of_range& problem) {
    return Status{StatusCode::io_error, name + ": " + problem.what()};
  }
}

}  // namespace attest::cli
