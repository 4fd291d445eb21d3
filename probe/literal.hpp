// Inputs made number by number for one experiment.
#pragma once

#include <string>

#include "probe/subject.hpp"

namespace attest::probe {

using properties::ElementRule;

struct Numbers {
  ElementRule q, k, v;  ///< a null one: all zeros
};

/// The problem of a line as Subject::made reads it, with these numbers.
Result<Case> literal(const Subject& subject, const std::string& line, const Numbers& numbers);

}  // namespace attest::probe
