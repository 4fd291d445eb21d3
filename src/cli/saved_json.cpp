#include "cli/saved_json.hpp"

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "foreign/json_depth.hpp"

namespace attest::cli {
namespace {

[[noreturn]] void refuse(const char* name, const char* why) {
  throw std::out_of_range(std::string(name) + why);
}

}  // namespace

Result<std::string> read_saved_text(const std::filesystem::path& path, std::uintmax_t most) {
  const auto failed = [&](const std::string& what) {
    return Status{StatusCode::io_error, path.string() + ": " + what};
  };
  std::error_code error;
  // Opening a pipe would wait for its other end.
  if (!std::filesystem::is_regular_file(path, error)) return failed("cannot be read");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return failed("cannot be read");
  if (size > most) return failed("is larger than " + std::to_string(most) + " bytes");
  std::string text(static_cast<std::size_t>(size), '\0');
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(text.data(), static_cast<std::streamsize>(size)))
    return failed("cannot be read");
  return text;
}

SavedJson parse_saved_json(std::string_view text, std::string_view format) {
  if (foreign::nests_too_deeply(text)) return nullptr;
  SavedJson json = SavedJson::parse(text, nullptr, false);
  if (!json.is_object() || text_member(json, "format") != format) return nullptr;
  return json;
}

std::string text_member(const SavedJson& json, const char* name) {
  const auto member = json.find(name);
  return member != json.end() && member->is_string() ? member->get<std::string>() : std::string{};
}

Index count_member(const SavedJson& json, const char* name, Index most) {
  const SavedJson& member = json.at(name);
  if (!member.is_number()) refuse(name, " is of another type");
  if (!member.is_number_unsigned()) refuse(name, " is out of range");
  const auto count = member.get<std::uint64_t>();
  if (count > static_cast<std::uint64_t>(most)) refuse(name, " is out of range");
  return static_cast<Index>(count);
}

double number_member(const SavedJson& json, const char* name) {
  const SavedJson& member = json.at(name);
  if (!member.is_number()) refuse(name, " is of another type");
  const auto number = member.get<double>();
  if (!(number >= 0) || !std::isfinite(number)) refuse(name, " is out of range");
  return number;
}

}  // namespace attest::cli
