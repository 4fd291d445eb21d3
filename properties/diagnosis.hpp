// What a wrong kernel acts like: mistakes with a name are fitted to its results.
//
// A mistake is told only where it explains every number of every run that was looked at: those of
// the law on the given cases, the cases themselves, and the same problems with other values. The
// expected numbers of a mistake come from the oracle on the problem that the kernel would solve
// instead, under the bound of that problem, or, where the mistake is one of arithmetic, from a
// model in double whose bound is a multiple of the kernel's own. It must also differ from the truth
// by far more than that bound. docs/diagnosis.md says what this can and cannot tell.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/laws.hpp"

namespace attest::properties {

struct Explanation {
  std::string_view name;      ///< as in "acts like NAME"
  std::string_view sentence;  ///< the mistake
  std::string problem;        ///< the words of the problem that it solves instead, or empty
  Index rows = 0;             ///< rows that were compared, all of them explained
  Index rows_wrong = 0;       ///< of these: those that are not right
};

/// Every mistake that explains all that was seen: none, one, or several that look the same here.
/// Deterministic.
std::vector<Explanation> explain(const Kernel& kernel, const Law& law, const Case& on);
std::vector<Explanation> explain(const Kernel& kernel, const Law& law, std::span<const Case> cases);

/// "A, or B (words); explains 12 of 12 rows"; empty where there is nothing to say.
std::string acts_like(std::span<const Explanation> explanations);

/// The names and sentences of all mistakes that are fitted, in a stable order.
std::vector<std::pair<std::string_view, std::string_view>> known_mistakes();

}  // namespace attest::properties
