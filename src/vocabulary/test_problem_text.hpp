// Reading, writing and comparing lines, for the tests of the problem text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "attest/problem_text.hpp"

namespace attest {

struct ParseOutcome {
  bool ok = false;
  ProblemText result;
  TextError error;
};

inline ParseOutcome parse(const std::string& text) {
  ParseOutcome outcome;
  outcome.ok = parse_problem_text(text, outcome.result, outcome.error);
  return outcome;
}

inline ProblemText parsed(const std::string& text) {
  const ParseOutcome outcome = parse(text);
  EXPECT_TRUE(outcome.ok) << with_caret(text, outcome.error);
  return outcome.result;
}

/// Bit for bit, so that zeros keep their sign; but any NaN is as good as any other.
inline bool same_numbers(const std::vector<double>& left, const std::vector<double>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) ||
           std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  });
}

inline bool same(const ProblemText& left, const ProblemText& right) {
  return left.problem == right.problem &&
         same_numbers({left.problem.scale.value}, {right.problem.scale.value}) &&
         left.tiling == right.tiling && left.values.kind == right.values.kind &&
         left.values.name == right.values.name && left.values.seed == right.values.seed &&
         same_numbers(left.values.q, right.values.q) &&
         same_numbers(left.values.k, right.values.k) &&
         same_numbers(left.values.v, right.values.v) && left.law == right.law;
}

inline void expect_reads_back(const ProblemText& text) {
  const std::string canonical = canonical_text(text);
  const std::string minimal = minimal_text(text);
  const ParseOutcome from_canonical = parse(canonical);
  ASSERT_TRUE(from_canonical.ok) << with_caret(canonical, from_canonical.error);
  ASSERT_TRUE(same(from_canonical.result, text)) << canonical;
  const ParseOutcome from_minimal = parse(minimal);
  ASSERT_TRUE(from_minimal.ok) << with_caret(minimal, from_minimal.error);
  ASSERT_TRUE(same(from_minimal.result, text)) << minimal;
  ASSERT_EQ(canonical_text(from_minimal.result), canonical);
  ASSERT_EQ(minimal_text(from_canonical.result), minimal);
  ASSERT_LE(minimal.size(), canonical.size());
}

/// Every key with every form of its value; each line is its own minimal form.
inline const std::vector<std::string>& minimal_lines() {
  static const std::vector<std::string> lines{
      "1x1:1x1:1 f32",
      "1x1:1x1:1 f64",
      "2x8/2:97x1025:128 f64",
      "3x4:5x6:7/8 f32",
      "0x1:1x1:1 f32",
      "1x1:0x0:1 f32",
      "2x8/2:97x{1025,0}:64 f32 mask=causal:br lse=ln tile=16x64 split=4 merge=random:7 vals=a:3",
      "1x1:2x{0}:1 f32",
      "1x1:2x3:4 f32 mask=causal:tl",
      "1x1:2x3:4 f32 mask=causal:br",
      "1x1:2x3:4 f32 mask=causal:off=0",
      "1x1:2x3:4 f32 mask=causal:off=-7",
      "1x1:2x3:4 f32 mask=causal:off=9223372036854775807",
      "1x1:2x3:4 f32 mask=causal:off=-9223372036854775808",
      "1x1:2x3:4 f32 mask=bits:101",
      "1x1:2x3:4 f32 mask=bits:101/010",
      "1x1:2x3:4 f32 mask=causal:tl+bits:101/010",
      "1x1:2x0:4 f32 mask=bits:",
      "1x1:2x0:4 f32 mask=bits:/",
      "1x1:2x3:4 f32 scale=1",
      "1x1:2x3:4 f32 scale=0",
      "1x1:2x3:4 f32 scale=-0",
      "1x1:2x3:4 f32 scale=-0.125",
      "1x1:2x3:4 f64 scale=1e-300",
      "1x1:2x3:4 f32 empty=reject",
      "1x1:2x3:4 f32 lse=ln",
      "1x1:2x3:4 f32 tile=1",
      "1x1:2x3:4 f32 tile=16x1",
      "1x1:2x3:4 f32 tile=9223372036854775807",
      "1x1:2x3:4 f32 split=3",
      "1x1:2x3:4 f32 split=1048576",
      "1x1:2x3:4 f32 split=at:0",
      "1x1:2x3:4 f32 split=at:1,1,3",
      "1x1:2x3:4 f32 merge=right",
      "1x1:2x3:4 f32 merge=balanced",
      "1x1:2x3:4 f32 merge=random:0",
      "1x1:2x3:4 f32 merge=random:18446744073709551615",
      "1x1:2x3:4 f32 merge=tree:0",
      "1x1:2x3:4 f32 split=3 merge=tree:2.0.+.1.+",
      "1x1:2x3:4 f32 tile=16x1 merge=tree:2.0.1.+.+",
      "1x1:2x3:4 f32 vals=normal:1",
      "1x1:2x3:4 f32 vals=ascending:18446744073709551615",
      "1x1:2x3:4 f32 vals=real:kjvgpt-layer01-head01:5",
      "1x1:1x2:1 f32 vals=lit:0.1;nan,-inf;inf,-0",
      "1x1:1x2:1/2 f64 vals=lit:0.1;1e-300,2;3,4,5,6",
      "1x1:1x0:1 f32 vals=lit:1;;",
      "0x1:1x1:1 f32 vals=lit:;;",
      "1x1:2x3:4 f32 law=bound.out",
      "2x4/2:2x{3,1}:4/5 f64 mask=causal:off=-1+bits:111/011 scale=0.5 empty=reject lse=ln",
      "2x4/2:2x{3,1}:4/5 f64 tile=2x1 split=at:1 merge=tree:0.1.+ vals=real:rows:9 law=merge.order",
  };
  return lines;
}

/// A line whose error stands between its two halves.
struct BrokenLine {
  std::string before;
  std::string after;
  std::string message;

  std::string text() const { return before + after; }
};

inline std::ostream& operator<<(std::ostream& stream, const BrokenLine& line) {
  return stream << '\'' << line.before << "' ^ '" << line.after << '\'';
}

inline void expect_errors(const std::vector<BrokenLine>& lines) {
  for (const BrokenLine& line : lines) {
    const ParseOutcome outcome = parse(line.text());
    EXPECT_FALSE(outcome.ok) << line;
    EXPECT_EQ(outcome.error.message, line.message) << line;
    EXPECT_EQ(outcome.error.position, line.before.size()) << line;
  }
}

}  // namespace attest
