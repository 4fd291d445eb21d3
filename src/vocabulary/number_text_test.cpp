// The shortest decimal of every number of the narrow types.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "attest/element.hpp"
#include "test_problem_text.hpp"
#include "text_cursor.hpp"

namespace attest {
namespace {

constexpr Dtype kNarrow[] = {Dtype::bf16, Dtype::f16, Dtype::e4m3, Dtype::e5m2};

std::uint32_t codes_of(Dtype dtype) {
  return 1U << (8 * size_of(dtype));
}

double read_as(const std::string& text, Dtype dtype) {
  TextCursor cursor(text);
  double value = 0;
  EXPECT_TRUE(cursor.number_of(value, dtype, "a number")) << text;
  EXPECT_TRUE(cursor.at_end()) << text;
  return value;
}

TEST(NumberText, OfEveryNarrowNumberReadsBackToItsCode) {
  for (const Dtype dtype : kNarrow)
    for (std::uint32_t code = 0; code < codes_of(dtype); ++code) {
      const double value = load_element(dtype, &code);
      if (std::isnan(value)) continue;
      const double again = read_as(number_text(value, dtype), dtype);
      ASSERT_TRUE(same_numbers({again}, {value})) << to_string(dtype) << " " << value;
    }
}

int digits_of(const std::string& text) {
  std::string digits;
  for (const char c : text.substr(0, text.find('e')))
    if (c >= '0' && c <= '9' && !(digits.empty() && c == '0')) digits += c;
  return static_cast<int>(digits.find_last_not_of('0')) + 1;
}

/// The fewest digits of a decimal that rounds to a number, and the longest text of such a decimal.
struct Fewest {
  int digits = 0;
  std::size_t length = 0;
};

std::map<double, Fewest> fewest_digits(Dtype dtype) {
  std::map<double, Fewest> found;
  for (int digits = 1; digits <= 999; ++digits)
    for (int exponent = -10; exponent <= 5; ++exponent) {
      const std::string text = std::to_string(digits) + "e" + std::to_string(exponent);
      double written = 0;
      std::from_chars(text.data(), text.data() + text.size(), written);
      const Fewest one{digits_of(text), number_text(written, Dtype::f64).size()};
      Fewest& best = found.emplace(rounded_to(dtype, written), one).first->second;
      if (one.digits < best.digits) best = one;
      if (one.digits == best.digits) best.length = std::max(best.length, one.length);
    }
  return found;
}

TEST(NumberText, HasTheFewestDigitsOrIsExactAndNoLonger) {
  for (const Dtype dtype : {Dtype::e4m3, Dtype::e5m2}) {
    const std::map<double, Fewest> fewest = fewest_digits(dtype);
    for (std::uint32_t code = 1; code < codes_of(dtype) / 2; ++code) {
      const double value = load_element(dtype, &code);
      if (!std::isfinite(value)) continue;
      ASSERT_EQ(fewest.count(value), 1U) << value;
      const std::string text = number_text(value, dtype);
      if (text == number_text(value, Dtype::f64))
        EXPECT_LE(text.size(), fewest.at(value).length) << value;
      else
        EXPECT_EQ(digits_of(text), fewest.at(value).digits) << value;
    }
  }
}

TEST(NumberText, OfNarrowTypesIsShort) {
  EXPECT_EQ(number_text(rounded_to(Dtype::bf16, 0.1), Dtype::bf16), "0.1");
  EXPECT_EQ(number_text(rounded_to(Dtype::f16, -0.1), Dtype::f16), "-0.1");
  EXPECT_EQ(number_text(65504, Dtype::f16), "65504");
  EXPECT_EQ(number_text(448, Dtype::e4m3), "448");
  EXPECT_EQ(number_text(-0.0, Dtype::e5m2), "-0");
}

}  // namespace
}  // namespace attest
