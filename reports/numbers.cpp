#include "reports/numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace attest::reports {
namespace {

/// Word of a value that has no digits; empty for the others. The sign of a NaN means nothing.
std::string word_of(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return {};
}

/// "7.2e-03" becomes "7.2e-3", "3.8e+03" becomes "3.8e3".
std::string short_exponent(const std::string& number) {
  const std::size_t mark = number.find('e');
  if (mark == std::string::npos) return number;
  std::string result = number.substr(0, mark + 1);
  std::size_t position = mark + 1;
  if (number[position] == '-') result += '-';
  if (number[position] == '-' || number[position] == '+') ++position;
  while (position + 1 < number.size() && number[position] == '0') ++position;
  return result + number.substr(position);
}

std::string significant(double value, int digits) {
  return short_exponent(fmt::format("{:.{}g}", value, digits));
}

bool is_float(double value) {
  return std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()) &&
         static_cast<double>(static_cast<float>(value)) == value;
}

std::string shortest(double value) {
  std::string word = word_of(value);
  return word.empty() ? short_exponent(fmt::format("{}", value)) : word;
}

template <class TextOf>
std::string enclosure_text(const Enclosure& enclosure, TextOf&& text_of) {
  std::string text = text_of(enclosure.high);
  if (enclosure.low != 0) {
    text += enclosure.low < 0 ? " - " : " + ";
    text += text_of(std::abs(enclosure.low));
  }
  if (enclosure.radius != 0) text += " +- " + text_of(enclosure.radius);
  return text;
}

}  // namespace

std::string magnitude_text(double value) {
  if (std::string word = word_of(value); !word.empty()) return word;
  return value == 0 ? "0" : short_exponent(fmt::format("{:.1e}", value));
}

std::string ratio_text(double ratio) {
  if (std::string word = word_of(ratio); !word.empty()) return word;
  std::string text = significant(ratio, 3);
  // At 1 lies the limit: a ratio just above it must not look as if it were on it.
  for (int digits = 4; digits <= 17 && text == "1" && ratio != 1; ++digits) {
    text = significant(ratio, digits);
  }
  return text;
}

std::string ratio_or_dash(double ratio) {
  return std::isnan(ratio) ? "-" : ratio_text(ratio);
}

std::string value_beside(double value, double beside) {
  if (std::string word = word_of(value); !word.empty()) return word;
  return std::isfinite(beside) && !is_float(beside) ? shortest(value) : significant(value, 9);
}

std::string decimal_text(double value) {
  return is_float(value) ? short_exponent(fmt::format("{}", static_cast<float>(value)))
                         : shortest(value);
}

std::string hexadecimal_text(double value) {
  std::string word = word_of(value);
  return word.empty() ? fmt::format("{:a}", value) : word;
}

std::string decimal_text(const Enclosure& enclosure) {
  return enclosure_text(enclosure, shortest);
}

std::string hexadecimal_text(const Enclosure& enclosure) {
  return enclosure_text(enclosure, [](double value) { return hexadecimal_text(value); });
}

std::string seed_text(std::uint64_t seed) {
  return fmt::format("0x{:X}", seed);
}

std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f} s", seconds, seconds < 9.95 ? 1 : 0);
}

std::string count_text(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace attest::reports
