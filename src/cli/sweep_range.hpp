// What `attest sweep --over` says: a parameter and its values.
//
//   lk=64:64k:x4     64, 256, ... while not above 65536      spread=1:9:+2     1, 3, 5, 7, 9
//   lk=64:64k        the same with x2                        d=32,64,100       these
//
// A suffix k multiplies by 1024.
#pragma once

#include <string>
#include <vector>

#include "attest/problem_text.hpp"

namespace attest::cli {

enum class SweepOver {
  lk,      ///< keys
  d,       ///< head_dim, and head_dim_v where that is the same
  spread,  ///< standard deviation of the scores of vals=normal: scale = spread / sqrt(head_dim)
  dtype,
};

struct SweepValue {
  std::string text;  ///< "4096", "0.5", "bf16"
  double number = 0;
  Dtype dtype = Dtype::f32;  ///< of SweepOver::dtype
};

struct SweepRange {
  SweepOver over = SweepOver::lk;
  std::vector<SweepValue> values;
};

inline constexpr std::size_t kMostSweepValues = 1000;

std::string to_string(SweepOver over);

/// An error is one line that says what is wrong, with which part, and at which character.
Result<SweepRange> parse_sweep_range(const std::string& text);

/// The problem with the value in it. What does not fit any more is an error.
Result<ProblemText> with_value(ProblemText base, SweepOver over, const SweepValue& value);

}  // namespace attest::cli
