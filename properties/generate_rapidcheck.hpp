// The same random cases and the same shrinking as the attest command, as a RapidCheck generator.
#pragma once

#include <rapidcheck.h>

#include <iosfwd>

#include "properties/random_case.hpp"

namespace attest::properties {

/// Cases within the limits; shrinks by visit_simpler_cases.
rc::Gen<Case> arbitrary_case(const CaseLimits& limits);

/// Problems of such cases; shrinks by the same moves.
rc::Gen<Problem> arbitrary_problem(const CaseLimits& limits);

/// Tilings of this many keys: tiles, splits (empty ones, too) and merge order.
rc::Gen<Tiling> arbitrary_tiling(Index seq_kv);

/// Cases of one problem under one tiling; values of every family, shrunk alone.
/// Preconditions: both are valid, and together.
rc::Gen<Case> arbitrary_values(const Problem& problem, const Tiling& tiling);

/// How RapidCheck prints a counterexample: its problem line, literal values included.
void showValue(const Case& value, std::ostream& stream);

}  // namespace attest::properties

namespace attest {

void showValue(const Problem& value, std::ostream& stream);
void showValue(const Tiling& value, std::ostream& stream);

}  // namespace attest
