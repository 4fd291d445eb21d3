// JSON that may come from anywhere, read with one clear line for what is wrong; internal to this
// room, and apart from the other headers so that only bodies include nlohmann's parser.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attest/status.hpp"
#include "foreign/abi_words.hpp"
#include "foreign/frames.hpp"
#include "foreign/json_depth.hpp"

namespace attest::foreign {

using Json = nlohmann::ordered_json;

/// A number that may be no finite one.
inline Json number_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

/// The object that a line holds.
inline Result<Json> parse_line(std::string_view line) {
  const auto wrong = [&] {
    return invalid_argument("the line of a frame is no JSON object: " + in_quotes(line));
  };
  if (nests_too_deeply(line)) return wrong();
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return wrong();
  return json;
}

/// Reads members of an object; the first that is wrong is kept as the status.
class Members {
 public:
  Members(const Json& json, std::string name) : json_(json), name_(std::move(name)) {}

  const Status& status() const { return status_; }
  bool has(const char* member) const { return json_.contains(member); }

  std::string text(const char* member) {
    const Json* const found = find(member);
    if (found == nullptr) return {};
    if (found->is_string()) return found->get<std::string>();
    refuse(member, "is no text");
    return {};
  }
  /// A whole number within 64 bits; 0 where it is absent.
  std::int64_t integer(const char* member) {
    const Json* const found = find(member);
    if (found == nullptr) return 0;
    if (is_integer(*found)) return found->get<std::int64_t>();
    refuse(member, "is no whole number");
    return 0;
  }
  double number(const char* member) {
    const Json* const found = find(member);
    if (found == nullptr) return 0;
    if (found->is_number()) return found->get<double>();
    refuse(member, "is no number");
    return 0;
  }
  bool flag(const char* member) {
    const Json* const found = find(member);
    if (found == nullptr) return false;
    if (found->is_boolean()) return found->get<bool>();
    refuse(member, "is neither true nor false");
    return false;
  }
  std::vector<std::int64_t> integers(const char* member) {
    std::vector<std::int64_t> all;
    for (const Json& one : list(member)) {
      if (is_integer(one))
        all.push_back(one.get<std::int64_t>());
      else
        refuse(member, "is no list of whole numbers");
    }
    return all;
  }
  /// The number of a word; 0 where the member is absent.
  std::uint64_t word(const char* member, std::span<const AbiWord> words) {
    if (!has(member)) return 0;
    return known(member, text(member), words).number;
  }
  /// A list of words, each handed to `take`.
  template <class Take>
  void each_word(const char* member, std::span<const AbiWord> words, Take&& take) {
    for (const Json& one : list(member)) {
      if (one.is_string())
        take(known(member, one.get_ref<const std::string&>(), words).number);
      else
        refuse(member, "is no list of words");
    }
  }
  const Json* object(const char* member) {
    const Json* const found = find(member);
    if (found == nullptr || found->is_object()) return found;
    refuse(member, "is no object");
    return nullptr;
  }
  /// Empty where it is absent.
  const Json& list(const char* member) {
    static const Json kEmpty = Json::array();
    const Json* const found = find(member);
    if (found == nullptr) return kEmpty;
    if (found->is_array()) return *found;
    refuse(member, "is no list");
    return kEmpty;
  }
  void refuse(const char* member, const std::string& why) {
    if (status_.ok()) status_ = invalid_argument(name_ + ": '" + member + "' " + why);
  }

 private:
  const Json* find(const char* member) const {
    const auto found = json_.find(member);
    return found == json_.end() ? nullptr : &*found;
  }
  static bool is_integer(const Json& json) {
    if (!json.is_number_integer()) return false;
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return !json.is_number_unsigned() || json.get<std::uint64_t>() <= kLargest;
  }
  AbiWord known(const char* member, const std::string& word, std::span<const AbiWord> words) {
    const auto number = number_of(words, word);
    if (!number) refuse(member, "has an unknown word " + in_quotes(word));
    return {{}, number.value_or(0)};
  }

  const Json& json_;
  std::string name_;
  Status status_;
};

}  // namespace attest::foreign
