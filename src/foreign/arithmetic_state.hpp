// The state of the processor's arithmetic that a kernel must leave as it found it.
#pragma once

#include <cfenv>
#include <string>

namespace attest::foreign {

class ArithmeticState {
 public:
  static ArithmeticState now();

  /// What is different in `later`, as "left flush-to-zero on"; empty: nothing that matters.
  std::string changes_in(const ArithmeticState& later) const;
  void restore() const;

 private:
  bool flushes_results() const;
  bool flushes_inputs() const;
  unsigned rounding() const;

  std::fenv_t environment_{};
  int mode_ = 0;
};

}  // namespace attest::foreign
