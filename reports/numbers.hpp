// Numbers as people read them. None depends on the locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "attest/enclosure.hpp"

namespace attest::reports {

/// Two digits: "7.2e-3". For magnitudes, not for values.
std::string magnitude_text(double value);

/// Three digits, "0.412" or "3.79e3", and more where three would say "1" of what is not 1.
std::string ratio_text(double ratio);
/// The same, and "-" for NaN: not measured.
std::string ratio_or_dash(double ratio);

/// Nine digits if the value beside it is one of a float, else all of a double.
std::string value_beside(double value, double beside);

/// Shortest decimal that reads back, as a float if the value is one.
std::string decimal_text(double value);

/// "0x1.5p-2"; infinities and NaN as words.
std::string hexadecimal_text(double value);

/// "high + low +- radius" without the parts that are 0.
std::string decimal_text(const Enclosure& enclosure);
std::string hexadecimal_text(const Enclosure& enclosure);

std::string seed_text(std::uint64_t seed);
std::string seconds_text(double seconds);

/// "1 case", "2 cases".
std::string count_text(std::int64_t count, std::string_view noun);

}  // namespace attest::reports
