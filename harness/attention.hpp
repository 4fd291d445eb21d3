// One call for people who have loops of their own: are these results attention, up to rounding?
#pragma once

#include <optional>
#include <string>

#include "attest/kernel.hpp"
#include "attest/verdict.hpp"

namespace attest::harness {

/// A problem, its tensors and what somebody's kernel wrote. Views as of a forward call: in the
/// storage that the problem says, with any strides; lse where the problem asks for it.
struct Attention {
  Problem problem;
  ForwardViews views;
  std::optional<DeclaredAccuracy> accuracy = {};  ///< nothing: harness/usual_accuracy.hpp
};

struct AttentionVerdict {
  /// Nothing is beyond its bound, and every bound is proven. A `weak` case holds: nothing is wrong
  /// with it, but a kernel that does not look at its scores would pass, too.
  bool holds = false;
  Verdict out;
  std::optional<Verdict> lse;  ///< where the problem asks for it
  /// Of what does not hold: element, got, want, error, bound, ratio, what a wrong kernel acts like,
  /// the problem, and, where it is short, a line that runs the same case on any kernel.
  std::string message;
};

/// Judged by the certified reference; what is beyond a bound is confirmed by both oracles.
AttentionVerdict judge(const Attention& computed);

}  // namespace attest::harness
