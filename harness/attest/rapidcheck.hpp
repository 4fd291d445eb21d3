// Generators of attest for properties of other projects: link attest::rapidcheck.
//
//   rc::check("...", [](const attest::Problem& problem) { ... });      any problem, any case
//   rc::check("...", [](const attest::properties::Case& on) { ... });
//   const auto on = *attest::properties::arbitrary_case(attest::properties::limits_for(kernel,
//   {}));
//
// Values come from our families, and shrinking is that of the attest command: RapidCheck's own
// numbers have no NaN, no infinity and no subnormal. Random choices are RapidCheck's, so RC_PARAMS
// says seed, number of cases and the rest. In one file with GoogleTest, its header comes first.
#pragma once

#include <rapidcheck.h>

#include "properties/check.hpp"
#include "properties/generate_rapidcheck.hpp"

namespace attest::harness {

/// What any kernel in f32 and f64 can be asked: masks, lengths and grouped heads, no variants.
inline properties::CaseLimits plain_limits() {
  return {};
}

}  // namespace attest::harness

namespace rc {

template <>
struct Arbitrary<attest::Problem> {
  static Gen<attest::Problem> arbitrary() {
    return attest::properties::arbitrary_problem(attest::harness::plain_limits());
  }
};

template <>
struct Arbitrary<attest::properties::Case> {
  static Gen<attest::properties::Case> arbitrary() {
    return attest::properties::arbitrary_case(attest::harness::plain_limits());
  }
};

}  // namespace rc
