// How far a result of exp, tanh or log is from the exact one.
//
// An ulp is the distance of two neighbouring numbers of the format where the exact result lies: of
// 2^e <= |exact| < 2^(e+1), and of the subnormal numbers below them. Infinity counts as the power
// of two behind the largest number, and as exact where the exact result is beyond that. u = 2^-24
// for float, 2^-53 for double.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "reference/elementary.hpp"

namespace attest::reference {

struct ElementaryError {
  double ulp = 0;
  double relative = 0;  ///< in units of u
  bool subnormal = false;
  bool rounded = false;  ///< the result is the correctly rounded one, with its sign
};

/// By MPFR; errors are rounded to nearest. Preconditions: the exact result is a finite number but
/// 0, the result is not NaN.
ElementaryError exact_error(Elementary function, float x, float result);
ElementaryError exact_error(Elementary function, double x, double result);

/// A largest error, and the first argument that has it.
struct LargestError {
  double error = 0;
  float x = 0;
  friend bool operator==(const LargestError&, const LargestError&) = default;
};

/// Errors below this are not told apart: no function that is worth a search stays below it.
inline constexpr double kSmallError = 0.25;

/// What is known of some arguments.
struct ElementaryTally {
  std::int64_t arguments = 0;
  std::int64_t not_rounded = 0;  ///< other than the correctly rounded result
  std::int64_t wrong = 0;        ///< other than the known result, or NaN
  std::optional<float> first_wrong;
  LargestError ulp{kSmallError, 0};
  LargestError relative{kSmallError, 0};   ///< in u, where the exact result is a normal number
  LargestError subnormal{kSmallError, 0};  ///< in ulp, where it is below them

  void append(const ElementaryTally& later);
};

/// Results of a kernel; `known` are those of arguments.known, and so on. MPFR decides where the
/// double-precision values do not.
ElementaryTally judge(Elementary function, const ElementaryArguments& arguments,
                      std::span<const float> known, std::span<const float> measured);

}  // namespace attest::reference
