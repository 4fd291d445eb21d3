#include "attest/public_api.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "attest/problem_text.hpp"

namespace attest {
namespace {

/// {N}, {N+1} or {N-1} at the beginning of a template.
struct Hole {
  char name = '\0';
  Index add = 0;
  std::size_t length = 0;  ///< 0: there is none
};

Hole hole_at(std::string_view text) {
  if (text.size() < 3 || text[0] != '{' || text[1] < 'A' || text[1] > 'Z') return {};
  const std::size_t end = text.find('}');
  if (end == 2) return {text[1], 0, 3};
  if (end != 4 || (text[2] != '+' && text[2] != '-')) return {};
  const Index digit = text[3] - '0';
  return {text[1], text[2] == '+' ? digit : -digit, 5};
}

/// The names of the holes of the words, in order.
std::string names_of(std::string_view words) {
  std::string names;
  for (; !words.empty(); words.remove_prefix(1)) {
    const Hole hole = hole_at(words);
    if (hole.length > 0 && names.find(hole.name) == std::string::npos) names += hole.name;
  }
  return names;
}

std::string filled(std::string_view text, const std::string& names,
                   std::span<const Index> numbers) {
  std::string result;
  while (!text.empty()) {
    const Hole hole = hole_at(text);
    if (hole.length == 0)
      result += text[0];
    else
      result += std::to_string(numbers[names.find(hole.name)] + hole.add);
    text.remove_prefix(std::max(hole.length, std::size_t{1}));
  }
  return result;
}

using Numbers = std::vector<std::optional<Index>>;

/// Reads the number of a hole; false where it contradicts what was read before.
bool read_hole(const Hole& hole, std::string_view& text, std::optional<Index>& number) {
  Index value = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{}) return false;
  if (hole.add < 0 && value > std::numeric_limits<Index>::max() + hole.add) return false;
  if (hole.add > 0 && value < std::numeric_limits<Index>::min() + hole.add) return false;
  value -= hole.add;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (number && *number != value) return false;
  number = value;
  return true;
}

/// Whether a text is a template filled with numbers; changes `numbers` only where it is.
bool matches(std::string_view pattern, std::string_view text, const std::string& names,
             Numbers& numbers) {
  Numbers read = numbers;
  while (!pattern.empty()) {
    const Hole hole = hole_at(pattern);
    if (hole.length > 0) {
      if (!read_hole(hole, text, read[names.find(hole.name)])) return false;
    } else {
      if (text.empty() || text[0] != pattern[0]) return false;
      text.remove_prefix(1);
    }
    pattern.remove_prefix(std::max(hole.length, std::size_t{1}));
  }
  if (!text.empty()) return false;
  numbers = std::move(read);
  return true;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

/// Whether some part of the text is the template filled with numbers.
bool matches_a_part(std::string_view pattern, const std::vector<std::string_view>& parts,
                    const std::string& names, Numbers& numbers) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return matches(pattern, part, names, numbers); });
}

/// One key=value of a row against the keys of a canonical text. A mask may have other parts, too.
bool matches_key(std::string_view pattern, const std::vector<std::string_view>& keys,
                 const std::string& names, Numbers& numbers) {
  constexpr std::string_view kMask = "mask=";
  if (pattern.substr(0, kMask.size()) != kMask)
    return matches_a_part(pattern, keys, names, numbers);
  for (const std::string_view key : keys) {
    if (key.substr(0, kMask.size()) != kMask) continue;
    const auto parts = split(key.substr(kMask.size()), '+');
    for (const std::string_view part : split(pattern.substr(kMask.size()), '+'))
      if (!matches_a_part(part, parts, names, numbers)) return false;
    return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(ApiTopic topic) {
  switch (topic) {
    case ApiTopic::causal:
      return "Causal masks";
    case ApiTopic::window:
      return "Windows and chunks";
    case ApiTopic::empty_row:
      return "Rows without keys";
    case ApiTopic::lse:
      return "Log-sum-exp";
    case ApiTopic::softcap:
      return "Softcap and its order";
    case ApiTopic::alibi:
      return "ALiBi";
    case ApiTopic::sink:
      break;
  }
  return "Sinks";
}

std::size_t number_count(const ApiRow& row) {
  return names_of(row.words).size();
}

std::string to_keys(const ApiRow& row, std::span<const Index> numbers) {
  return filled(row.keys, names_of(row.words), numbers);
}

std::string to_words(const ApiRow& row, std::span<const Index> numbers) {
  return filled(row.words, names_of(row.words), numbers);
}

std::optional<std::string> words_of(std::string_view api, ApiTopic topic, const Problem& problem) {
  const std::string text = canonical_text({problem, {}, {}, ""});
  const std::vector<std::string_view> keys = split(text, ' ');
  for (const ApiRow& row : api_rows()) {
    if (row.api != api || row.topic != topic) continue;
    const std::string names = names_of(row.words);
    Numbers numbers(names.size());
    const auto patterns = split(row.keys, ' ');
    if (!std::all_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
          return matches_key(pattern, keys, names, numbers);
        }))
      continue;
    std::vector<Index> found;
    for (const std::optional<Index>& number : numbers) found.push_back(number.value_or(0));
    return to_words(row, found);
  }
  return std::nullopt;
}

}  // namespace attest
