// Problems whose tensors have more rows than the longest batch member has queries or keys. A text
// says the lengths of the members alone: beside it such a problem needs the lengths of its tensors.
#pragma once

#include <string_view>

#include "attest/problem_text.hpp"

namespace attest {

/// Rows of the tensors of a problem.
struct TensorLengths {
  Index seq_q = 0;
  Index seq_kv = 0;

  friend bool operator==(const TensorLengths&, const TensorLengths&) = default;
};

/// Parses and validates as parse_problem_text does, for tensors of these lengths: masks, segments
/// and cuts fit them. Lengths that are shorter than a batch member, that differ from those of a
/// side without a list, or that are too large for a tensor, are errors.
bool parse_problem_text(std::string_view text, TensorLengths tensors, ProblemText& result,
                        TextError& error);

}  // namespace attest
