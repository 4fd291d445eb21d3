// What a wrong kernel acts like: mistakes with a name are fitted to its results.
//
// A mistake is told only where it explains every number of all that was looked at (the runs of the
// law, the cases, and the same problems with other values), where it holds in experiments on other
// cases of the kind, and where no other one does. Its expected numbers come from the oracle on the
// problem that the kernel would solve instead, under the bound of that problem, or, for arithmetic,
// from a model in double whose bound is a multiple of the kernel's own. It must also differ from
// the truth by far more than that bound. docs/diagnosis.md says what this can and cannot tell.
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

/// The one mistake that explains all that was seen and holds in the experiments; none where there
/// is no such mistake, or several cannot be told apart. Deterministic.
std::vector<Explanation> explain(const Kernel& kernel, const Law& law, const Case& on);
std::vector<Explanation> explain(const Kernel& kernel, const Law& law, std::span<const Case> cases);

/// "A or B (words): explains 12 of 12 rows, 5 of them wrong", the words where they are short; empty
/// where there is nothing to say.
std::string acts_like(std::span<const Explanation> explanations);

/// The names and sentences of all mistakes that are fitted, in a stable order.
std::vector<std::pair<std::string_view, std::string_view>> known_mistakes();

}  // namespace attest::properties
