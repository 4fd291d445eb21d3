// What the shrinking moves share: candidates are handed out only where they are valid and simpler.
#pragma once

#include <functional>
#include <utility>

#include "properties/derive.hpp"
#include "properties/shrink.hpp"

namespace attest::properties {

/// Hands out candidates that are simpler than `from`, until one is taken.
class Candidates {
 public:
  Candidates(const Case& from, const std::function<bool(Case&&)>& visit)
      : from_(from), limit_(complexity(from)), visit_(visit) {}

  bool taken() const { return taken_; }
  void offer(Case&& candidate) {
    if (taken_ || !validate(candidate.problem).ok() || !(complexity(candidate) < limit_)) return;
    taken_ = visit_(std::move(candidate));
  }
  /// A copy of `from` changed by `change`.
  template <class Change>
  void offer_changed(Change&& change) {
    if (taken_) return;
    Case candidate = from_;
    change(candidate);
    offer(with_fitting_tiling(std::move(candidate)));
  }

 private:
  const Case& from_;
  Complexity limit_;
  const std::function<bool(Case&&)>& visit_;
  bool taken_ = false;
};

/// How much the parts of a problem beside shape, mask and values add to it; 0 for none of them.
Index features_cost(const Problem& problem);

/// The same case without one of those parts, or with a plainer form of it.
void strip_features(const Case& from, Candidates& candidates);

Index mask_cost(const Mask& mask);

/// Fewer parts of the mask, or plainer ones.
void plainer_masks(const Case& from, Candidates& candidates);

/// How much the lengths of members add to a case.
Index lengths_cost(const Problem& problem);

/// Fewer batch members, and shorter ones.
void shorter_members(const Case& from, Candidates& candidates);

}  // namespace attest::properties
