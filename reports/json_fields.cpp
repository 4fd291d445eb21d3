// Members of an object by name and type.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "reports/json_read.hpp"

namespace attest::reports {
namespace {

/// More than any run counts, and so little that sums over a file do not overflow.
constexpr double kMostCounted = 0x1p44;

std::optional<double> number_word(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return {};
  const auto& word = json.get_ref<const std::string&>();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  return {};
}

}  // namespace

Fields::Fields(const Json& json, std::string_view what) : json_(json), what_(what) {
  if (!json.is_object()) throw BadLine(fmt::format("the {} is no object", what));
}

void Fields::refuse(const char* name, std::string_view why) const {
  throw BadLine(fmt::format("'{}' of the {} {}", name, what_, why));
}

std::string Fields::text(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) return {};
  if (!found->is_string()) refuse(name, "is no text");
  return found->get<std::string>();
}

std::string Fields::needed_text(const char* name) const {
  std::string found = text(name);
  if (found.empty()) refuse(name, "is missing");
  return found;
}

std::int64_t Fields::integer(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) return 0;
  if (!found->is_number_integer()) refuse(name, "is no whole number");
  // As a double it is exact or far too large, whatever its type.
  if (!(std::abs(found->get<double>()) <= kMostCounted)) refuse(name, "is out of range");
  return found->get<std::int64_t>();
}

std::int64_t Fields::count(const char* name) const {
  const std::int64_t value = integer(name);
  if (value < 0) refuse(name, "is negative");
  return value;
}

double Fields::number(const char* name, double missing) const {
  const auto found = json_.find(name);
  if (found == json_.end()) return missing;
  const std::optional<double> value = number_word(*found);
  if (!value) refuse(name, "is no number");
  return *value;
}

bool Fields::flag(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) return false;
  if (!found->is_boolean()) refuse(name, "is neither true nor false");
  return found->get<bool>();
}

std::uint64_t Fields::seed(const char* name) const {
  const std::string digits = text(name);
  if (digits.empty()) return 0;
  std::uint64_t seed = 0;
  const char* const end = digits.data() + digits.size();
  if (!digits.starts_with("0x")) refuse(name, "is no seed");
  const auto [stop, problem] = std::from_chars(digits.data() + 2, end, seed, 16);
  if (problem != std::errc{} || stop != end) refuse(name, "is no seed");
  return seed;
}

const Json* Fields::array(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) return nullptr;
  if (!found->is_array()) refuse(name, "is no list");
  return &*found;
}

const Json* Fields::object(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) return nullptr;
  if (!found->is_object()) refuse(name, "is no object");
  return &*found;
}

double number_of(const Json& json) {
  const std::optional<double> value = number_word(json);
  if (!value) throw BadLine("a list of numbers holds something else");
  return *value;
}

}  // namespace attest::reports
