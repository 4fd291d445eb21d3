// Several verdicts of one law on one case as one.
#pragma once

#include <algorithm>
#include <utility>

#include "attest/verdict.hpp"

namespace attest::properties {

/// The first violation wins; then what could not be decided; a pass carries the worst ratio.
class Combined {
 public:
  void add(Verdict next) {
    if (!any_) {
      any_ = true;
      total_ = std::move(next);
      return;
    }
    const Index checked = total_.rows_checked + next.rows_checked;
    const Index wrong = total_.rows_wrong + next.rows_wrong;
    const int rank_total = rank(total_.outcome);
    const int rank_next = rank(next.outcome);
    if (rank_next > rank_total || (rank_next == rank_total && !is_violation(total_.outcome) &&
                                   next.worst_ratio > total_.worst_ratio))
      total_ = std::move(next);
    total_.rows_checked = checked;
    total_.rows_wrong = wrong;
  }
  bool violated() const { return any_ && is_violation(total_.outcome); }
  Verdict verdict() const { return any_ ? total_ : Verdict::weak("there was nothing to compare"); }

 private:
  static int rank(Outcome outcome) {
    if (is_violation(outcome)) return 4;
    if (outcome == Outcome::unproven) return 3;
    if (outcome == Outcome::ok) return 2;
    return outcome == Outcome::weak ? 1 : 0;
  }

  bool any_ = false;
  Verdict total_;
};

}  // namespace attest::properties
