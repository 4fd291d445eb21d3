// The case of a problem line, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "properties/case.hpp"

namespace attest::properties {

/// The default case, and a failed test, where the line is no case.
inline Case case_of(const std::string& line) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << with_caret(line, error);
  Result<Case> made = make_case(text, nullptr);
  EXPECT_TRUE(made.ok()) << line << ": " << made.status().message();
  return made.ok() ? std::move(made).value() : Case{};
}

}  // namespace attest::properties
