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
         same_numbers(left.values.v, right.values.v) &&
         same_numbers(left.values.bias, right.values.bias) &&
         same_numbers(left.values.sink, right.values.sink) &&
         same_numbers(left.values.qv, right.values.qv) &&
         same_numbers(left.values.dout, right.values.dout) &&
         same_numbers(left.values.dlse, right.values.dlse) && left.law == right.law;
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
      "2x1:{4,0}x3:4 f32",
      "2x1:{4,0}x{3,1}:4 f32",
      "1x1:2x3:4 bf16",
      "1x1:2x3:4 f16",
      "1x1:2x3:4 e4m3",
      "1x1:2x3:4 bf16/e4m3",
      "1x1:2x3:4 bf16/bf16/e5m2",
      "1x1:2x3:4 bf16/e4m3/e5m2",
      "1x1:2x3:4 f32 mask=causal:br+prefix:2",
      "1x1:2x3:4 f32 mask=causal:br+prefix:0",
      "1x1:2x3:4 f32 mask=causal:br+chunk:2",
      "1x1:2x3:4 f32 mask=chunk:9223372036854775807 align=tl",
      "1x1:3x3:4 f32 mask=doc:0,0,-7",
      "1x1:2x3:4 f32 mask=doc:0,0/0,0,1",
      "1x1:0x3:4 f32 mask=doc:/0,0,1",
      "1x1:3x0:4 f32 mask=doc:0,0,1/",
      "1x1:0x0:4 f32 mask=doc:",
      "1x1:3x3:4 f32 mask=block:2x2:10/11",
      "1x1:3x3:4 f32 mask=block:9x1:101",
      "1x1:0x3:4 f32 mask=block:2x2:",
      "1x1:3x0:4 f32 mask=block:2x2:/",
      "1x1:2x3:4 f32 mask=add:0,-inf,0.1",
      "1x1:2x3:4 f32 mask=add:0,-inf,0.1/-0,1e-45,-1e+10",
      "1x1:2x0:4 f32 mask=add:/",
      "1x1:2x0:4 f32 mask=add:",
      "1x1:2x2:4 f64 mask=causal:tl+prefix:1+chunk:2+doc:0,1+bits:11+block:1x2:1/0+add:0.1,-inf",
      "1x1:2x3:4 f32 mask=causal:br win=1:0",
      "1x1:2x3:4 f32 mask=causal:br win=*:0",
      "1x1:2x3:4 f32 mask=causal:br win=1:*",
      "1x1:2x3:4 f32 align=br win=9223372036854775807:0",
      "1x1:2x3:4 f32 align=off=-3 win=0:0",
      "1x1:2x3:4 f32 align=tl",
      "1x1:2x3:4 f32 align=br win=1:0 keep=first:2",
      "1x1:2x3:4 f32 cap=30",
      "1x1:2x3:4 f32 cap=0.1",
      "1x1:2x3:4 f32 bias=1d",
      "1x1:2x3:4 f32 bias=2d",
      "1x1:2x3:4 f32 bias=b1d:f16",
      "1x1:2x3:4 f32 bias=bh2d:bf16",
      "1x1:2x3:4 f64 bias=h2d:f32",
      "1x1:2x3:4 f32 alibi=abs:br",
      "1x1:2x3:4 f32 alibi=rel:tl",
      "1x2:2x3:4 f32 alibi=col:br:0.5,0.1",
      "1x1:2x3:4 f32 cap=1 order=scale,bias,alibi,mask,cap",
      "1x1:2x3:4 f32 cap=1 order=scale,alibi,cap,bias,mask",
      "1x1:2x3:4 f32 sink=head",
      "1x1:2x3:4 f32 sink=head:out",
      "1x1:2x3:4 f32 sink=one",
      "1x1:2x3:4 f32 sink=one:out",
      "1x1:2x3:4 f32 qv=yes",
      "1x1:2x3:4/2 f32 v=view(k)",
      "1x1:2x3:4 e4m3 descale=1;1;1",
      "2x2:2x3:4 bf16/e4m3 descale=1;0.5,0.25,2,0.1;3",
      "1x1:2x3:4 bf16 out=f32",
      "1x1:2x3:4 e5m2 out=f16",
      "1x1:2x3:4 f32 empty=nan",
      "1x1:2x3:4 f32 empty=mean:any",
      "1x1:2x3:4 f32 empty=any:any",
      "1x1:2x3:4 f32 empty=zero:inf",
      "1x1:2x3:4 f32 empty=zero:-50000.1",
      "1x1:2x3:4 f32 lse=log2",
      "1x1:2x3:4 f32 lse=max_sum",
      "1x1:2x3:4 f32 layout=bhsd",
      "1x1:2x3:4 f32 layout=sbhd:pad=3",
      "1x1:2x3:4 f32 layout=bshd:col=2",
      "2x1:{2,1}x3:4 f32 layout=thd:pad=3:col=2",
      "2x1:2x{3,1}:4 f32 kv=leftpad",
      "1x1:2x3:4 f32 kv=paged:2",
      "2x1:2x{3,1}:4 f32 kv=paged:2:9:8,0/8",
      "2x1:2x{3,0}:4 f32 kv=paged:2:9:8,0,1/",
      "0x1:2x3:4 f32 kv=paged:2",
      "0x1:2x3:4 f32 kv=paged:2:1:",
      "1x1:2x3:4 f32 bwd=dq,dk,dv",
      "1x1:2x3:4 f32 bias=2d sink=head bwd=dq,dk,dv,dbias,dsink,dlse",
      "1x1:1x2:1 bf16/e4m3/e5m2 vals=lit:0.1;0.4,nan;-inf,2e-05",
      "1x1:1x1:1 f16 bias=1d sink=head qv=yes vals=lit:0.1;2;3;bias=0.1;sink=-0.5;qv=0.1",
      "1x1:1x1:2/1 bf16 v=view(k) vals=lit:1,2;3,4;;9",
      "1x1:1x2:1 f32 bias=1d:f16 bwd=dq,dk,dv,dlse vals=lit:1;2,3;4,5;bias=0.1,6;dout=7;dlse=8;3",
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
