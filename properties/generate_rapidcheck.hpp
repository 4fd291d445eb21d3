// The same random cases and the same shrinking as the attest command, as a RapidCheck generator.
#pragma once

#include <rapidcheck.h>

#include <iosfwd>

#include "properties/random_case.hpp"

namespace attest::properties {

/// Cases within the limits; shrinks by visit_simpler_cases.
rc::Gen<Case> arbitrary_case(const CaseLimits& limits);

/// How RapidCheck prints a counterexample: its problem line, literal values included.
void showValue(const Case& value, std::ostream& stream);

}  // namespace attest::properties
