#include "properties/expected_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace attest::properties {
namespace {

constexpr std::array<std::string_view, 7> kTensors{"out", "lse",   "dq",   "dk",
                                                   "dv",  "dbias", "dsink"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void skip_spaces(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
}

/// Takes the next word; `rest` begins with the one after it.
std::string_view take_word(std::string_view& rest) {
  skip_spaces(rest);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(word.size());
  skip_spaces(rest);
  return word;
}

/// Half a unit of the last digit written after the point; 0 without point and exponent.
std::optional<double> half_unit_of(std::string_view text) {
  const std::size_t exponent_at = text.find('e');
  const std::size_t point_at = text.find('.');
  if (point_at == std::string_view::npos && exponent_at == std::string_view::npos) return 0.0;
  const std::string_view mantissa = text.substr(0, exponent_at);
  std::int64_t power = 0;
  if (exponent_at != std::string_view::npos) {
    const std::string_view digits = text.substr(exponent_at + 1);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), power);
    if (error != std::errc{} || stop != digits.data() + digits.size()) return std::nullopt;
  }
  // 0 with any exponent is a double; far outside of them there is no unit.
  constexpr std::int64_t kFarthest = 1000;
  if (power < -kFarthest || power > kFarthest) return std::nullopt;
  if (point_at < mantissa.size())
    power -= static_cast<std::int64_t>(mantissa.size() - point_at - 1);
  // Read as text, so that no power of ten is rounded twice.
  const std::string unit = "5e" + std::to_string(power - 1);
  double half = 0;
  if (std::from_chars(unit.data(), unit.data() + unit.size(), half).ec == std::errc{}) return half;
  if (power > 0) return std::nullopt;
  return std::numeric_limits<double>::denorm_min();  // of digits that no double can tell apart
}

std::optional<ExpectedNumber> parse_number(std::string_view text) {
  if (text == "_") return ExpectedNumber{false, 0, 0};
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return ExpectedNumber{true, value, 0};
  const std::optional<double> half_unit = half_unit_of(text);
  if (!half_unit) return std::nullopt;
  return ExpectedNumber{true, value, *half_unit};
}

/// NAME=[NUMBER,...]
Result<ExpectedTensor> parse_tensor(std::string_view text) {
  const auto refused = [&](const std::string& why) {
    return invalid_argument(why + " in '" + std::string(text) + "'");
  };
  ExpectedTensor tensor;
  const std::size_t open = text.find("=[");
  tensor.name = text.substr(0, open);
  if (std::find(kTensors.begin(), kTensors.end(), tensor.name) == kTensors.end())
    return refused("unknown tensor");
  if (text.back() != ']') return refused("no ']' at the end");
  std::string_view list = text.substr(open + 2);
  list.remove_suffix(1);
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    const std::optional<ExpectedNumber> number = parse_number(word);
    if (!number) return refused("'" + std::string(word) + "' is no number");
    tensor.numbers.push_back(*number);
    list.remove_prefix(word.size());
    if (list == ",") return refused("a number is missing at the end");
    if (!list.empty()) list.remove_prefix(1);
  }
  return tensor;
}

bool is_report(std::string_view word) {
  return word.size() > 1 && word.front() == 'B' &&
         std::all_of(word.begin() + 1, word.end(), is_digit);
}

/// The tensors at the begin of `rest`, which then begins with the words after them.
Status parse_want(std::string_view& rest, std::vector<ExpectedTensor>& want) {
  while (rest.substr(0, rest.find_first_of(" \t")).find("=[") != std::string_view::npos) {
    Result<ExpectedTensor> tensor = parse_tensor(take_word(rest));
    if (!tensor.ok()) return tensor.status();
    for (const ExpectedTensor& other : want)
      if (other.name == tensor.value().name)
        return invalid_argument("'" + other.name + "' is given twice");
    want.push_back(std::move(tensor).value());
  }
  return want.empty() ? invalid_argument("want without a NAME=[...]") : Status{};
}

}  // namespace

bool ExpectedNumber::agrees(const Enclosure& exact) const {
  if (!stated) return true;
  if (std::isnan(value)) return std::isnan(exact.high);
  if (half_unit == 0) return exact.distance_lower(value) == 0;
  return exact.distance_upper(value) <= half_unit;
}

Result<Expectation> parse_expectation(std::string_view comment) {
  Expectation result;
  std::string_view word = take_word(comment);
  if (is_report(word)) {
    result.report = word;
    word = take_word(comment);
    result.also = word == "also";
    if (result.also) word = take_word(comment);
  }
  if (word == "want") {
    if (Status status = parse_want(comment, result.want); !status.ok()) return status;
  } else if (word == "free") {
    result.free = true;
    if (comment.empty()) return invalid_argument("free without a reason");
  } else {
    return invalid_argument("expected 'want' or 'free', got '" + std::string(word) + "'");
  }
  result.words = comment;
  return result;
}

}  // namespace attest::properties
