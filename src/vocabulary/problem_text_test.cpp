#include "attest/problem_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "attest/random.hpp"

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Outcome {
  bool ok = false;
  ProblemText result;
  TextError error;
};

Outcome parse(const std::string& text) {
  Outcome outcome;
  outcome.ok = parse_problem_text(text, outcome.result, outcome.error);
  return outcome;
}

ProblemText parsed(const std::string& text) {
  const Outcome outcome = parse(text);
  EXPECT_TRUE(outcome.ok) << with_caret(text, outcome.error);
  return outcome.result;
}

/// Bit for bit, so that zeros keep their sign; but any NaN is as good as any other.
bool same_numbers(const std::vector<double>& left, const std::vector<double>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) ||
           std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  });
}

bool same(const ProblemText& left, const ProblemText& right) {
  return left.problem == right.problem &&
         same_numbers({left.problem.scale.value}, {right.problem.scale.value}) &&
         left.tiling == right.tiling && left.values.kind == right.values.kind &&
         left.values.name == right.values.name && left.values.seed == right.values.seed &&
         same_numbers(left.values.q, right.values.q) &&
         same_numbers(left.values.k, right.values.k) &&
         same_numbers(left.values.v, right.values.v) && left.law == right.law;
}

void expect_reads_back(const ProblemText& text) {
  const std::string canonical = canonical_text(text);
  const std::string minimal = minimal_text(text);
  const Outcome from_canonical = parse(canonical);
  ASSERT_TRUE(from_canonical.ok) << with_caret(canonical, from_canonical.error);
  ASSERT_TRUE(same(from_canonical.result, text)) << canonical;
  const Outcome from_minimal = parse(minimal);
  ASSERT_TRUE(from_minimal.ok) << with_caret(minimal, from_minimal.error);
  ASSERT_TRUE(same(from_minimal.result, text)) << minimal;
  ASSERT_EQ(canonical_text(from_minimal.result), canonical);
  ASSERT_EQ(minimal_text(from_canonical.result), minimal);
  ASSERT_LE(minimal.size(), canonical.size());
}

/// Every key with every form of its value; each line is its own minimal form.
const std::vector<std::string>& minimal_lines() {
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

TEST(ProblemText, OfEveryKeyAndValueReadsBackFromBothForms) {
  for (const std::string& line : minimal_lines()) {
    expect_reads_back(parsed(line));
    if (HasFatalFailure()) return;
  }
}

TEST(ProblemText, MinimalFormOfAMinimalLineIsThatLine) {
  for (const std::string& line : minimal_lines()) EXPECT_EQ(minimal_text(parsed(line)), line);
}

TEST(ProblemText, CanonicalFormWritesEveryDefault) {
  EXPECT_EQ(canonical_text(parsed("2x4:3x5:8 f32")),
            "2x4:3x5:8 f32 mask=none scale=rsqrt empty=zero lse=none tile=16 split=1 merge=left "
            "vals=normal:0");
  EXPECT_EQ(canonical_text(parsed("1x1:1x1:1 f64 law=bound.lse")),
            "1x1:1x1:1 f64 mask=none scale=rsqrt empty=zero lse=none tile=16 split=1 merge=left "
            "vals=normal:0 law=bound.lse");
}

TEST(ProblemText, MinimalFormLeavesOutEveryDefault) {
  EXPECT_EQ(minimal_text(ProblemText{}), "1x1:1x1:1 f32");
  const ProblemText spelt_out = parsed(
      "2x4/4:3x5:8/8 f32 mask=none scale=rsqrt empty=zero lse=none tile=16x16 split=1 "
      "merge=left vals=normal:0");
  EXPECT_EQ(minimal_text(spelt_out), "2x4:3x5:8 f32");
  EXPECT_TRUE(same(spelt_out, parsed("2x4:3x5:8 f32")));
}

TEST(ProblemText, OrderOfTheKeysDoesNotMatter) {
  EXPECT_TRUE(same(parsed("1x1:2x3:4 f32 law=a merge=tree:0.1.+ split=2 lse=ln mask=causal:tl"),
                   parsed("1x1:2x3:4 f32 mask=causal:tl lse=ln split=2 merge=tree:0.1.+ law=a")));
  EXPECT_TRUE(same(parsed("1x1:2x3:4 f32 mask=bits:101+causal:br"),
                   parsed("1x1:2x3:4 f32 mask=causal:br+bits:101")));
}

TEST(ProblemText, AllowsSpacesAndTabsAroundColonsAndBetweenKeys) {
  const ProblemText plain = parsed("2x8/2:97x1025:64 f32 lse=ln");
  EXPECT_TRUE(same(parsed("2x8/2 : 97x1025 : 64 f32 lse=ln"), plain));
  EXPECT_TRUE(same(parsed("  2x8/2 :97x1025: 64   f32   lse=ln  "), plain));
  EXPECT_TRUE(same(parsed("\t2x8/2\t:\t97x1025:64\tf32\tlse=ln\t"), plain));
}

TEST(ProblemText, AStarTakesTheBatchFromTheKeyLengths) {
  EXPECT_TRUE(same(parsed("*x1:4x{3,0}:8 f32"), parsed("2x1:4x{3,0}:8 f32")));
}

TEST(ProblemText, KeyLengthsGiveTheNumberOfKeys) {
  const Problem problem = parsed("3x1:4x{3,0,7}:8 f32").problem;
  EXPECT_EQ(problem.key_lengths, (std::vector<Index>{3, 0, 7}));
  EXPECT_EQ(problem.seq_kv, 7);
}

TEST(ProblemText, FillsEveryField) {
  const ProblemText text = parsed(
      "2x4/2:3x{5,0}:6/7 f64 mask=causal:off=-1+bits:11111/01111/00000 scale=0.5 empty=reject "
      "lse=ln tile=2x3 split=at:1,4 merge=random:9 vals=real:rows:8 law=bound.out");
  Problem problem;
  problem.batch = 2;
  problem.heads_q = 4;
  problem.heads_kv = 2;
  problem.seq_q = 3;
  problem.seq_kv = 5;
  problem.key_lengths = {5, 0};
  problem.head_dim = 6;
  problem.head_dim_v = 7;
  problem.dtype = Dtype::f64;
  problem.scale = {false, 0.5};
  problem.mask.causal = Causal{Causal::Alignment::explicit_offset, -1};
  problem.mask.bits = MaskBits{3,
                               5,
                               {true, true, true, true, true, false, true, true, true, true, false,
                                false, false, false, false}};
  problem.all_masked = AllMaskedPolicy::reject;
  problem.lse = LseForm::natural;
  EXPECT_EQ(text.problem, problem);
  EXPECT_EQ(text.tiling, (Tiling{2, 3, {1, {1, 4}}, {MergeOrder::Kind::random, 9, {}}}));
  EXPECT_EQ(text.values, (ValueRecipe{ValueRecipe::Kind::real, "rows", 8, {}, {}, {}}));
  EXPECT_EQ(text.law, "bound.out");
}

TEST(ProblemText, AFamilyWithoutASeedHasSeedZero) {
  EXPECT_TRUE(same(parsed("1x1:1x1:1 f32 vals=spike"), parsed("1x1:1x1:1 f32 vals=spike:0")));
  EXPECT_TRUE(same(parsed("1x1:1x1:1 f32 vals=real:a"), parsed("1x1:1x1:1 f32 vals=real:a:0")));
}

TEST(ProblemText, AcceptsNothingWhoseWrittenFormReadsAsAnotherKindOfValues) {
  for (const std::string values : {"lit", "real", "real:lit", "real:real"}) {
    const std::string line = "1x1:1x1:1 f32 vals=" + values;
    const Outcome outcome = parse(line);
    if (!outcome.ok) continue;
    const Outcome again = parse(canonical_text(outcome.result));
    EXPECT_TRUE(again.ok && same(again.result, outcome.result)) << line;
  }
}

TEST(ProblemText, LiteralNumbersStandInTheOrderOfTheTensors) {
  const ValueRecipe values = parsed("1x1:1x2:1/2 f64 vals=lit:1;2,3;4,5,6,7").values;
  EXPECT_EQ(values, (ValueRecipe{ValueRecipe::Kind::literal, "", 0, {1}, {2, 3}, {4, 5, 6, 7}}));
}

TEST(ProblemText, LiteralNumbersMayBeNanOrInfinite) {
  const ValueRecipe values = parsed("1x1:1x2:1 f32 vals=lit:nan;inf,-inf;-0,0").values;
  EXPECT_TRUE(std::isnan(values.q[0]));
  EXPECT_TRUE(same_numbers(values.k, {kInfinity, -kInfinity}));
  EXPECT_TRUE(same_numbers(values.v, {-0.0, 0.0}));
}

TEST(ProblemText, LiteralNumbersAndScaleAreRoundedToTheDtype) {
  const ProblemText single = parsed("1x1:1x1:1 f32 scale=0.3 vals=lit:0.1;16777217;1e-45");
  EXPECT_EQ(single.problem.scale.value, static_cast<double>(0.3F));
  EXPECT_EQ(single.values.q[0], static_cast<double>(0.1F));
  EXPECT_EQ(single.values.k[0], 0x1p24);
  EXPECT_EQ(single.values.v[0], 0x1p-149);
  const ProblemText wide = parsed("1x1:1x1:1 f64 scale=0.3 vals=lit:0.1;16777217;1e-45");
  EXPECT_EQ(wide.problem.scale.value, 0.3);
  EXPECT_EQ(wide.values.q[0], 0.1);
  EXPECT_EQ(wide.values.k[0], 16777217.0);
  EXPECT_EQ(wide.values.v[0], 1e-45);
}

TEST(ProblemText, SmallestAndLargestNumbersOfTheDtypeReadBack) {
  using Single = std::numeric_limits<float>;
  using Wide = std::numeric_limits<double>;
  ProblemText text;
  text.values.kind = ValueRecipe::Kind::literal;
  text.values.name = "";
  const auto expect_numbers_read_back = [&](double q, double k, double v) {
    text.values.q = {q};
    text.values.k = {k};
    text.values.v = {v};
    text.problem.scale = {false, v};
    expect_reads_back(text);
  };
  expect_numbers_read_back(static_cast<double>(Single::denorm_min()),
                           static_cast<double>(Single::min()), static_cast<double>(Single::max()));
  text.problem.dtype = Dtype::f64;
  expect_numbers_read_back(Wide::denorm_min(), Wide::min(), Wide::max());
}

TEST(ProblemText, ShortestFormOfAFloatThatIsClosestToAMidpointReadsBack) {
  // Rounded to double first, these digits fall on the midpoint of two floats.
  const float value = 7.038531e-26F;
  ProblemText text;
  text.values = {ValueRecipe::Kind::literal, "", 0, {static_cast<double>(value)}, {0}, {0}};
  text.problem.scale = {false, static_cast<double>(value)};
  expect_reads_back(text);
}

TEST(NumberText, IsTheShortestThatReadsBack) {
  EXPECT_EQ(number_text(static_cast<double>(0.1F), Dtype::f32), "0.1");
  EXPECT_EQ(number_text(static_cast<double>(0.1F), Dtype::f64), "0.10000000149011612");
  EXPECT_EQ(number_text(0.1, Dtype::f64), "0.1");
  EXPECT_EQ(number_text(0x1p-1074, Dtype::f64), "5e-324");
  EXPECT_EQ(number_text(0x1p-149, Dtype::f32), "1e-45");
  EXPECT_EQ(number_text(-0.0, Dtype::f32), "-0");
  EXPECT_EQ(number_text(kInfinity, Dtype::f32), "inf");
  EXPECT_EQ(number_text(-kInfinity, Dtype::f64), "-inf");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN(), Dtype::f32), "nan");
}

/// A line whose error stands between its two halves.
struct BrokenLine {
  std::string before;
  std::string after;
  std::string message;

  std::string text() const { return before + after; }
};

std::ostream& operator<<(std::ostream& stream, const BrokenLine& line) {
  return stream << '\'' << line.before << "' ^ '" << line.after << '\'';
}

void expect_errors(const std::vector<BrokenLine>& lines) {
  for (const BrokenLine& line : lines) {
    const Outcome outcome = parse(line.text());
    EXPECT_FALSE(outcome.ok) << line;
    EXPECT_EQ(outcome.error.message, line.message) << line;
    EXPECT_EQ(outcome.error.position, line.before.size()) << line;
  }
}

TEST(ProblemTextError, PointsAtTheBrokenPartOfTheShape) {
  expect_errors({
      {"", "", "expected the batch size, as in BxHq:LqxLk:d"},
      {"", "x1:1x1:1 f32", "expected the batch size, as in BxHq:LqxLk:d"},
      {"", "-1x1:1x1:1 f32", "the batch size, as in BxHq:LqxLk:d must not be negative"},
      {"", "9223372036854775808x1:1x1:1 f32", "the batch size, as in BxHq:LqxLk:d is too large"},
      {"1", ":1x1:1 f32", "expected 'x' between batch and heads"},
      {"1x", ":1x1:1 f32", "expected the number of query heads"},
      {"1x", "-2:1x1:1 f32", "the number of query heads must not be negative"},
      {"1x4/", ":1x1:1 f32", "expected the number of key/value heads"},
      {"1x", "4/3:1x1:1 f32", "query heads must be a multiple of key/value heads, both at least 1"},
      {"1x", "4/0:1x1:1 f32", "query heads must be a multiple of key/value heads, both at least 1"},
      {"1x", "0:1x1:1 f32", "query heads must be a multiple of key/value heads, both at least 1"},
      {"1x1", "", "expected ':' between heads and lengths"},
      {"1x1  ", "1x1:1 f32", "expected ':' between heads and lengths"},
      {"1x1:", "{1,2}x1:1 f32",
       "a list of query lengths is not supported, only one of key lengths"},
      {"1x1:", "x1:1 f32", "expected the number of queries"},
      {"1x1:1", ":1 f32", "expected 'x' between queries and keys"},
      {"1x1:1x", ":1 f32", "expected the number of keys"},
      {"1x1:1x", "-3:1 f32", "the number of keys must not be negative"},
      {"*x1:1x", "3:1 f32", "batch * needs a list of key lengths, as in *x1:4x{3,0}:8"},
      {"1x1:1x{", "}:1 f32", "expected a key length"},
      {"2x1:1x{1,", "-1}:1 f32", "a key length must not be negative"},
      {"2x1:1x{1,2", ":1 f32", "expected '}' after the key lengths"},
      {"3x1:1x", "{1,2}:1 f32", "the list has 2 key lengths, the batch has 3 members"},
      {"1x1:1x1 ", "1 f32", "expected ':' between lengths and head_dim"},
      {"1x1:1x1: ", "f32", "expected head_dim"},
      {"1x1:1x1:", "0 f32", "head_dim must be at least 1"},
      {"1x1:1x1:", "2/0 f32", "head_dim must be at least 1"},
      {"1x1:1x1:2/", " f32", "expected head_dim_v"},
      {"1x1:1x1:1", "", "expected a space and then the dtype, f32 or f64"},
      {"1x1:1x1:1", "f32", "expected a space and then the dtype, f32 or f64"},
      {"1x1:1x1:1 ", "", "expected the dtype, f32 or f64"},
      {"1x1:1x1:1  ", "bf16", "expected the dtype, f32 or f64"},
      {"1x1:1x1:1 ", "f32,lse=ln", "expected the dtype, f32 or f64"},
  });
}

TEST(ProblemTextError, PointsAtTheKeyThatIsUnknownOrGivenTwice) {
  const std::string known = "; known: mask scale empty lse tile split merge vals law";
  expect_errors({
      {"1x1:1x1:1 f32 ", "win=1:2", "unknown key 'win'" + known},
      {"1x1:1x1:1 f32 ", "=1", "unknown key ''" + known},
      {"1x1:1x1:1 f32 lse=ln ", "Lse=ln", "unknown key 'Lse'" + known},
      {"1x1:1x1:1 f32 lse", "", "expected '=' after the key"},
      {"1x1:1x1:1 f32 lse", " =ln", "expected '=' after the key"},
  });
  const std::string shape = "1x1:1x1:1 f32 ";
  for (const std::string key_value : {"mask=none", "scale=1", "empty=zero", "lse=none", "tile=4",
                                      "split=1", "merge=left", "vals=normal:0", "law=a"}) {
    const std::string key = key_value.substr(0, key_value.find('='));
    expect_errors({{shape + key_value + " ", key_value, "key '" + key + "' is given twice"}});
  }
}

TEST(ProblemTextError, PointsAtTheBrokenMask) {
  const std::string unknown =
      "unknown mask; known: none, causal:tl, causal:br, causal:off=N, bits:ROWS";
  const std::string corner = "causal needs its corner: causal:tl, causal:br or causal:off=N";
  const std::string shape = "1x1:2x3:1 f32 ";
  expect_errors({
      {shape + "mask=", "", unknown},
      {shape + "mask=", "window:3", unknown},
      {shape + "mask=causal:tl+", "none", unknown},
      {shape + "mask=causal", "", corner},
      {shape + "mask=causal:", "bl", corner},
      {shape + "mask=causal:off=", "x", "expected the offset of the causal diagonal"},
      {shape + "mask=causal:off=", "9223372036854775808",
       "the offset of the causal diagonal is too large"},
      {shape + "mask=causal:tl+", "causal:br", "causal is given twice"},
      {shape + "mask=bits:111+", "bits:111", "bits are given twice"},
      {shape + "mask=bits:", "11", "a row of mask bits has 2 characters, the problem 3 keys"},
      {shape + "mask=bits:", "1111", "a row of mask bits has 4 characters, the problem 3 keys"},
      {shape + "mask=bits:111/", "0", "a row of mask bits has 1 characters, the problem 3 keys"},
      {shape + "mask=bits:", "1x1", "a row of mask bits has 1 characters, the problem 3 keys"},
      {shape + "mask=bits:111/111/111", "", "mask bits have 3 rows, the problem 2 queries"},
      {shape + "mask=none", "+causal:tl", "unexpected text after the value of 'mask'"},
      {shape + "mask=causal:tl", "x", "unexpected text after the value of 'mask'"},
  });
}

TEST(ProblemTextError, CausalWithoutItsColonIsRefused) {
  EXPECT_FALSE(parse("1x1:2x3:1 f32 mask=causaltl").ok);
  EXPECT_FALSE(parse("1x1:2x3:1 f32 mask=causaloff=3").ok);
}

TEST(ProblemTextError, PointsAtTheBrokenChoiceOrNumber) {
  const std::string shape = "1x1:2x3:1 f32 ";
  expect_errors({
      {shape + "scale=", "", "expected a number or rsqrt"},
      {shape + "scale=", "sqrt", "expected a number or rsqrt"},
      {shape + "scale=", "nan", "scale must be finite in the problem's dtype"},
      {shape + "scale=", "-inf", "scale must be finite in the problem's dtype"},
      {shape + "scale=", "1e39", "scale must be finite in the problem's dtype"},
      {shape + "scale=1", "/2", "unexpected text after the value of 'scale'"},
      {shape + "empty=", "nan", "expected zero or reject"},
      {shape + "lse=", "log2", "expected none or ln"},
      {shape + "lse=ln", "2", "unexpected text after the value of 'lse'"},
      {shape + "tile=", "", "expected a tile size, N or QxKV"},
      {shape + "tile=", "-1", "a tile size, N or QxKV must not be negative"},
      {shape + "tile=", "0", "tiles must be at least 1"},
      {shape + "tile=", "4x0", "tiles must be at least 1"},
      {shape + "tile=4x", "", "expected the number of keys of a tile"},
      {shape + "tile=", "99999999999999999999", "a tile size, N or QxKV is too large"},
      {shape + "law=", "", "expected the name of a law"},
  });
}

TEST(ProblemTextError, PointsAtTheBrokenSplit) {
  const std::string shape = "1x1:2x3:1 f32 ";
  const std::string count = "the number of kv splits must be in [1, 1048576]";
  const std::string cuts = "kv split cuts must be non-decreasing and within [0, 3]";
  expect_errors({
      {shape + "split=", "", "expected a number of kv splits or at:CUT,CUT"},
      {shape + "split=", "0", count},
      {shape + "split=", "1048577", count},
      {shape + "split=", "9223372036854775807", count},
      {shape + "split=", "9223372036854775808", "a number of kv splits or at:CUT,CUT is too large"},
      {shape + "split=at:", "", "expected a cut position"},
      {shape + "split=at:1,", "", "expected a cut position"},
      {shape + "split=at:", "-1", "a cut position must not be negative"},
      {shape + "split=", "at:2,1", cuts},
      {shape + "split=", "at:4", cuts},
  });
}

TEST(ProblemTextError, PointsAtTheBrokenMergeOrder) {
  const std::string shape = "1x1:2x3:1 f32 ";
  expect_errors({
      {shape + "merge=", "", "expected left, right, balanced, random:SEED or tree:STEP.STEP"},
      {shape + "merge=", "tree", "expected left, right, balanced, random:SEED or tree:STEP.STEP"},
      {shape + "merge=random:", "", "expected the seed of the random tree"},
      {shape + "merge=random:", "-1", "expected the seed of the random tree"},
      {shape + "merge=random:", "18446744073709551616", "the seed of the random tree is too large"},
      {shape + "merge=tree:", "", "expected a leaf number or '+'"},
      {shape + "merge=tree:0.", "", "expected a leaf number or '+'"},
      {shape + "merge=tree:", "-1", "a leaf number or '+' must not be negative"},
      {shape + "merge=left", ":3", "unexpected text after the value of 'merge'"},
  });
}

TEST(ProblemTextError, RefusesATreeThatFitsNeitherSplitsNorTiles) {
  const std::string few = "merge tree has fewer leaves than there are splits or tiles";
  for (const std::string line : {
           "1x1:2x3:1 f32 split=2 merge=tree:0.1.2.+.+",        // a leaf too many
           "1x1:2x3:1 f32 split=2 merge=tree:0",                // a leaf too few
           "1x1:2x3:1 f32 split=2 merge=tree:0.0.+",            // a leaf twice
           "1x1:2x3:1 f32 split=2 merge=tree:0.1",              // two trees
           "1x1:2x3:1 f32 split=2 merge=tree:0.+.1",            // a join of one
           "1x1:2x3:1 f32 split=2 merge=tree:0.1.+.+",          // a join too many
           "1x1:2x3:1 f32 tile=1 split=1 merge=tree:0.1.+",     // between 1 split and 3 tiles
           "1x1:2x3:1 f32 merge=tree:9223372036854775807",      // no such leaf
           "1x1:2x1000:1 f32 tile=1 split=2 merge=tree:1.0.2",  // far too few for the tiles
       }) {
    const Outcome outcome = parse(line);
    EXPECT_FALSE(outcome.ok) << line;
    EXPECT_EQ(outcome.error.message.substr(0, 10), "merge tree") << line;
    EXPECT_LE(outcome.error.position, line.size()) << line;
  }
  EXPECT_EQ(parse("1x1:2x1000:1 f32 tile=1 split=2 merge=tree:1.0.2").error.message, few);
}

TEST(ProblemTextError, SaysInGrammaticalWordsWhyATreeDoesNotFit) {
  const auto message = [](const std::string& merge) {
    return parse("1x1:2x3:1 f32 split=2 merge=" + merge).error.message;
  };
  EXPECT_EQ(message("tree:0.1.2.+.+").find("merge tree names leaf 2, the tiling has 2"), 0U);
  // "names leaf 0 twice tiles in 2 splits" would be no sentence.
  EXPECT_EQ(message("tree:0.0.+").find("twice tiles"), std::string::npos);
  EXPECT_EQ(message("tree:0.+.1").find("subtrees tiles"), std::string::npos);
  EXPECT_EQ(message("tree:0").find("one tiles"), std::string::npos);
}

TEST(ProblemTextError, PointsAtTheBrokenValues) {
  const std::string shape = "1x1:1x2:1 f32 vals=";
  const std::string forms = "expected FAMILY:SEED, real:NAME:SEED or lit:Q;K;V";
  expect_errors({
      {shape, "", forms},
      {shape, ":3", forms},
      {shape + "real:", "", forms},
      {shape + "normal:", "", "expected a seed"},
      {shape + "normal:", "-1", "expected a seed"},
      {shape + "normal:", "18446744073709551616", "a seed is too large"},
      {shape + "normal:1", ":2", "unexpected text after the value of 'vals'"},
      {shape + "lit:", "", "expected a number"},
      {shape + "lit:", ";1,2;3,4", "expected a number"},
      {shape + "lit:1", "", "expected ';' between q and k"},
      {shape + "lit:1;2,3", "", "expected ';' between k and v"},
      {shape + "lit:", "1,2;3,4;5,6", "q has 2 numbers, the problem needs 1"},
      {shape + "lit:1;", "3;5,6", "k has 1 numbers, the problem needs 2"},
      {shape + "lit:1;3,4;", "5", "v has 1 numbers, the problem needs 2"},
      {shape + "lit:1;3,4;", "5,6,7", "v has 3 numbers, the problem needs 2"},
      {shape + "lit:1;3,", ";5,6", "expected a number"},
      {shape + "lit:1;3,4;5,", "1e39", "number does not fit f32"},
      {shape + "lit:1;3,4;5,", "-1e39", "number does not fit f32"},
      {shape + "lit:1;3,4;5,6", ";7", "unexpected text after the value of 'vals'"},
      {"1x1:1x0:1 f32 vals=lit:1;", "2;", "expected ';' between k and v"},
  });
}

TEST(ProblemTextError, ANumberThatOverflowsIsRefusedWhereItStands) {
  for (const std::string before : {"1x1:1x1:1 f32 scale=", "1x1:1x1:1 f64 scale=-",
                                   "1x1:1x1:1 f32 vals=lit:", "1x1:1x1:1 f64 vals=lit:0;"}) {
    const Outcome outcome = parse(before + "1e999");
    EXPECT_FALSE(outcome.ok) << before;
    EXPECT_LE(before.size() - 1, outcome.error.position) << before;
    EXPECT_LE(outcome.error.position, before.size()) << before;
  }
}

TEST(ProblemTextError, ANumberTooSmallForTheDtypeIsNotCalledTooLarge) {
  for (const std::string line : {"1x1:1x1:1 f64 scale=1e-999", "1x1:1x1:1 f32 vals=lit:1e-999;0;0",
                                 "1x1:1x1:1 f32 vals=lit:1e-99;0;0"}) {
    const Outcome outcome = parse(line);
    EXPECT_EQ(outcome.error.message.find("too large"), std::string::npos)
        << with_caret(line, outcome.error);
  }
}

TEST(ProblemTextError, HugeShapesAreRefusedWithoutAllocation) {
  const std::string message = "a tensor of this problem has more than 2^56 elements";
  expect_errors({
      {"", "1x1:72057594037927937x1:1 f32", message},
      {"", "1x1:1x72057594037927937:1 f32", message},
      {"", "1x1:1x{9223372036854775807}:1 f32", message},
      {"", "1x1:1x36028797018963968:1/3 f32", message},
      {"", "99999999x99999999:99999999x99999999:99999999/99999999 f32", message},
      {"", "99999999x99999999:99999999x99999999:99999999 f32 vals=lit:0;0;0", message},
  });
}

TEST(ProblemTextError, HugeShapesAreRefusedEvenBesideAnExtentOfZero) {
  EXPECT_FALSE(parse("4611686018427387904x4:0x0:1 f32 vals=lit:;;").ok);
  EXPECT_FALSE(parse("0x1:1x9223372036854775807:1 f32 split=2 merge=tree:0.1.+").ok);
}

TEST(ProblemTextError, AHugeShapeThatIsAllowedAllocatesNothing) {
  const std::string longest = "1x1:72057594037927936x72057594037927936:1 f32";
  EXPECT_TRUE(parse(longest).ok);
  EXPECT_TRUE(parse(longest + " split=1048576 tile=1").ok);
  EXPECT_EQ(parse(longest + " vals=lit:0;0;0").error.message,
            "q has 1 numbers, the problem needs 72057594037927936");
  EXPECT_EQ(parse(longest + " mask=bits:101").error.message,
            "a row of mask bits has 3 characters, the problem 72057594037927936 keys");
  EXPECT_EQ(parse(longest + " tile=1 split=2 merge=tree:0").error.message,
            "merge tree has fewer leaves than there are splits or tiles");
}

TEST(WithCaret, PutsTheMessageUnderTheBrokenPart) {
  const auto shown = [](const std::string& line) { return with_caret(line, parse(line).error); };
  EXPECT_EQ(shown(""), "\n^ expected the batch size, as in BxHq:LqxLk:d");
  EXPECT_EQ(shown("1x1:1x1:0 f32"),
            "1x1:1x1:0 f32\n"
            "        ^ head_dim must be at least 1");
  EXPECT_EQ(shown("1x1:4x4:8 f32 mask=causal"),
            "1x1:4x4:8 f32 mask=causal\n"
            "                         ^ causal needs its corner: causal:tl, causal:br or "
            "causal:off=N");
  EXPECT_EQ(shown("1x1:4x4:8 f32 lse=ln lse=ln"),
            "1x1:4x4:8 f32 lse=ln lse=ln\n"
            "                     ^ key 'lse' is given twice");
}

TEST(ProblemText, AFailedParseLeavesTheErrorAndNoOldResult) {
  ProblemText result = parsed("1x1:2x3:4 f32 lse=ln law=a");
  TextError error;
  EXPECT_FALSE(parse_problem_text("nonsense", result, error));
  EXPECT_TRUE(same(result, ProblemText{}));
}

// -- random problems ------------------------------------------------------------------------------

class RandomProblemText {
 public:
  explicit RandomProblemText(std::uint64_t seed) : random_(seed) {}

  ProblemText next() {
    ProblemText text;
    fill_shape(text.problem);
    fill_mask(text.problem);
    fill_choices(text.problem);
    fill_tiling(text);
    fill_values(text);
    if (chance(3)) text.law = pick({"bound.out", "bound.lse", "merge.order", "tile=x"});
    return text;
  }

 private:
  bool chance(std::uint64_t one_in) { return random_.below(one_in) == 0; }
  Index between(Index low, Index high) {
    return low + static_cast<Index>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  std::string pick(const std::vector<std::string>& names) {
    return names[random_.below(names.size())];
  }

  void fill_shape(Problem& problem) {
    problem.batch = between(0, 3);
    problem.heads_kv = between(1, 2);
    problem.heads_q = problem.heads_kv * between(1, 2);
    problem.seq_q = between(0, 4);
    problem.seq_kv = between(0, 5);
    problem.head_dim = between(1, 3);
    problem.head_dim_v = chance(2) ? problem.head_dim : between(1, 3);
    problem.dtype = chance(2) ? Dtype::f32 : Dtype::f64;
    if (problem.batch == 0 || chance(2)) return;
    problem.seq_kv = 0;
    for (Index b = 0; b < problem.batch; ++b) {
      problem.key_lengths.push_back(between(0, 5));
      problem.seq_kv = std::max(problem.seq_kv, problem.key_lengths.back());
    }
  }

  void fill_mask(Problem& problem) {
    if (chance(2)) {
      Causal causal;
      causal.alignment = static_cast<Causal::Alignment>(random_.below(3));
      if (causal.alignment == Causal::Alignment::explicit_offset)
        causal.offset = chance(2) ? between(-5, 5) : std::bit_cast<Index>(random_.next());
      problem.mask.causal = causal;
    }
    if (!chance(2)) return;
    MaskBits bits{problem.seq_q == 0 || chance(2) ? 1 : problem.seq_q, problem.seq_kv, {}};
    for (Index i = 0; i < bits.rows * bits.columns; ++i) bits.visible.push_back(chance(2));
    problem.mask.bits = bits;
  }

  void fill_choices(Problem& problem) {
    if (chance(2)) {
      problem.scale.reciprocal_sqrt = false;
      do {
        problem.scale.value = number(problem.dtype);
      } while (!std::isfinite(problem.scale.value));
    }
    if (chance(2)) problem.all_masked = AllMaskedPolicy::reject;
    if (chance(2)) problem.lse = LseForm::natural;
  }

  void fill_tiling(ProblemText& text) {
    Tiling& tiling = text.tiling;
    const Index seq_kv = text.problem.seq_kv;
    tiling.tile_q = chance(8) ? static_cast<Index>(random_.next() >> 1) | 1 : between(1, 20);
    tiling.tile_kv = chance(2) ? tiling.tile_q : between(1, 20);
    tiling.splits.count = chance(8) ? between(1, KvSplits::max_count) : between(1, 6);
    if (chance(2)) {
      tiling.splits.count = 1;
      Index cut = 0;
      for (Index left = between(1, 4); left > 0; --left)
        tiling.splits.cuts.push_back(cut = between(cut, seq_kv));
    }
    MergeOrder& merge = tiling.merge;
    merge.kind = static_cast<MergeOrder::Kind>(random_.below(5));
    if (merge.kind == MergeOrder::Kind::random) merge.seed = random_.next();
    if (merge.kind != MergeOrder::Kind::explicit_tree) return;
    if (tiling.splits.count > 6) tiling.splits.count = 6;
    const std::size_t leaves =
        chance(2) ? split_ranges(tiling, seq_kv).size() : all_tiles(tiling, seq_kv).size();
    merge.tree =
        make_merge_tree({MergeOrder::Kind::random, random_.next(), {}}, static_cast<Index>(leaves))
            .value();
  }

  void fill_values(ProblemText& text) {
    const Problem& problem = text.problem;
    ValueRecipe& values = text.values;
    values.kind = static_cast<ValueRecipe::Kind>(random_.below(3));
    values.seed = chance(2) ? random_.below(10) : random_.next();
    if (values.kind == ValueRecipe::Kind::family) values.name = pick({"normal", "spike", "lits"});
    if (values.kind == ValueRecipe::Kind::real)
      values.name = pick({"rows", "a-b.c", "lit", "real"});
    if (values.kind != ValueRecipe::Kind::literal) return;
    values = {ValueRecipe::Kind::literal,
              "",
              0,
              numbers(problem.q_extents(), problem.dtype),
              numbers(problem.k_extents(), problem.dtype),
              numbers(problem.v_extents(), problem.dtype)};
  }

  std::vector<double> numbers(const Extents& extents, Dtype dtype) {
    std::vector<double> list(
        static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]));
    for (double& element : list) element = number(dtype);
    return list;
  }

  /// Any bit pattern of the dtype, or a small whole number.
  double number(Dtype dtype) {
    if (chance(2)) return static_cast<double>(between(-9, 9));
    if (dtype == Dtype::f64) return std::bit_cast<double>(random_.next());
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(random_.next())));
  }

  SplitMix64 random_;
};

TEST(ProblemText, OfRandomProblemsReadsBackFromBothForms) {
  RandomProblemText random(11);
  for (int i = 0; i < 5000; ++i) {
    const ProblemText text = random.next();
    ASSERT_TRUE(validate(text.problem).ok());
    expect_reads_back(text);
    if (HasFatalFailure()) return;
  }
}

// -- broken texts ---------------------------------------------------------------------------------

/// Neither a crash nor an error outside of the text; and what is accepted can be written and read.
void expect_verdict_on(const std::string& text) {
  const Outcome outcome = parse(text);
  if (outcome.ok) {
    expect_reads_back(outcome.result);
    return;
  }
  ASSERT_FALSE(outcome.error.message.empty()) << text;
  ASSERT_LE(outcome.error.position, text.size()) << text;
}

TEST(ProblemTextError, EveryPrefixOfALineIsAcceptedOrPointsIntoIt) {
  for (const std::string& line : minimal_lines())
    for (const std::string& whole : {line, canonical_text(parsed(line))})
      for (std::size_t length = 0; length <= whole.size(); ++length) {
        expect_verdict_on(whole.substr(0, length));
        if (HasFatalFailure()) return;
      }
}

std::string mutated(std::string text, SplitMix64& random) {
  static const std::string useful = " \t:;,./+-=x{}*0123456789eEinfanbtlr";
  for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
    const auto at = static_cast<std::size_t>(random.below(text.size() + 1));
    const char byte = random.below(2) == 0 ? static_cast<char>(random.below(256))
                                           : useful[random.below(useful.size())];
    switch (random.below(4)) {
      case 0:
        text.insert(at, 1, byte);
        break;
      case 1:
        text.erase(at, 1 + random.below(4));
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size() + 1), random.below(12)));
        break;
      default:
        if (at < text.size()) text[at] = byte;
    }
  }
  return text;
}

TEST(ProblemTextError, MutatedLinesAreAcceptedOrPointIntoThem) {
  SplitMix64 random(12);
  for (int i = 0; i < 20000; ++i) {
    const std::string& line = minimal_lines()[random.below(minimal_lines().size())];
    expect_verdict_on(mutated(line, random));
    if (HasFatalFailure()) return;
  }
}

TEST(ProblemTextError, RandomBytesAreRefusedWithAPositionInside) {
  SplitMix64 random(13);
  for (int i = 0; i < 5000; ++i) {
    std::string noise(random.below(40), '\0');
    for (char& byte : noise) byte = static_cast<char>(random.below(256));
    expect_verdict_on(noise);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace attest
