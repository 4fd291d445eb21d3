// What rules of other projects catch of the planted bugs, beside the laws of attest.
//
// The rules see what their own tests see: the output and, of a backward pass, dq, dk and dv. The
// plain evaluation is builtin:textbook (three passes, materialised weights, in the compute type);
// truth is the exact result. Every rule and every law judges the same number of cases of a bug.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "selftest/matrix.hpp"
#include "selftest/rules.hpp"

namespace attest::selftest {

enum class Inputs {
  normal,    ///< drawn problems, every value normal
  families,  ///< drawn problems as attest check draws them
};

/// One bug, or one correct kernel, on one kind of inputs.
struct Caught {
  std::vector<bool> by_rule;  ///< in the order of rules()
  bool by_laws = false;
};

struct ComparisonRow {
  const Kernel* kernel = nullptr;
  Caught normal, families;
  bool complete = false;
};

struct Comparison {
  std::vector<ComparisonRow> bugs;
  std::vector<ComparisonRow> correct;
  Index cases = 0;
  bool complete = true;
};

/// `cases` of every rule on every kernel, and of every law.
Comparison compare_rules(const Plan& plan, Index cases,
                         const std::function<void(Index, Index)>& done = {});

}  // namespace attest::selftest
