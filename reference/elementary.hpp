// exp, tanh and log of every float in doubles whose error is proven, to judge the elementary
// functions of kernels by. It shares no code with them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace attest::reference {

enum class Elementary { exp, tanh, log };

/// Upper bound of |computed / exact - 1| where arguments are measured.
inline constexpr double kElementaryError = 0x1p-50;

/// Arguments in two groups.
struct ElementaryArguments {
  /// Where the correctly rounded result is known beforehand: at zeros, infinities, NaN, outside of
  /// the domain, and where it saturates.
  std::vector<float> known;
  std::vector<float> known_results;
  /// All others, with the function's value.
  std::vector<float> measured;
  std::vector<double> exact;
};

/// The correctly rounded result, if it needs no evaluation. exp gives 0 below -104 and infinity
/// above 89; tanh gives +-1 from 10 on, where 1 - |tanh| < 2 e^-20 < 2^-25.
std::optional<float> known_result(Elementary function, float x);

/// Sorts the arguments into the groups, in their order, and evaluates. Proofs: elementary.cpp.
ElementaryArguments evaluate(Elementary function, std::span<const float> x);

}  // namespace attest::reference
