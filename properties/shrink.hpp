// Shrinking in the domain of attention: fewer features of the problem first (storage, gradients,
// terms of the score, narrow types), then fewer members, heads, keys, queries and columns, then
// plainer masks and tilings, then plainer values. One set of moves serves the attest command
// and RapidCheck.
#pragma once

#include <functional>
#include <tuple>
#include <vector>

#include "properties/laws.hpp"

namespace attest::properties {

/// How complicated a case is; compared part by part. Every shrinking move lowers it, so that
/// shrinking ends.
using Complexity = std::tuple<Index, Index, Index, Index, Index, Index, Index, double>;
Complexity complexity(const Case& of);

/// All cases one move away that are simpler, the boldest moves first: the small worlds (one or two
/// keys and queries, dimension 1, values 0 and 1) in ascending order, then cuts, then plainer
/// parts. `visit` returns true to stop.
void visit_simpler_cases(const Case& from, const std::function<bool(Case&&)>& visit);

struct Shrunk {
  Case smallest;
  Verdict verdict;
  int tried = 0;
  int kept = 0;
  bool finished = true;  ///< false: the limit came first, a smaller case may exist
};

/// Greedy descent over simpler cases that violate the same law. seconds = 0: no shrinking; nor of a
/// timeout.
Shrunk shrink(const Kernel& kernel, const Law& law, const Case& from, const Verdict& verdict,
              double seconds);

/// The same with at most `tries` cases judged instead of a clock: the same result on any machine.
Shrunk shrink_within(const Kernel& kernel, const Law& law, const Case& from, const Verdict& verdict,
                     int tries);

}  // namespace attest::properties
