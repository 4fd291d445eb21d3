// Errors of the problem text point at the broken part and say why.
#include <gtest/gtest.h>

#include <string>

#include "test_problem_text.hpp"

namespace attest {
namespace {

TEST(ProblemTextError, PointsAtTheBrokenPartOfTheShape) {
  const std::string dtypes = "expected a dtype, one of f32, f64, bf16, f16, e4m3 and e5m2";
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
      {"1x1:", "{1,2}x1:1 f32", "the list has 2 query lengths, the batch has 1 members"},
      {"2x1:{1,", "-1}x1:1 f32", "a query length must not be negative"},
      {"2x1:{1,2", "x1:1 f32", "expected '}' after the query lengths"},
      {"*x1:{1,2}x", "{1}:1 f32", "the list has 1 key lengths, the batch has 2 members"},
      {"1x1:", "x1:1 f32", "expected the number of queries"},
      {"1x1:1", ":1 f32", "expected 'x' between queries and keys"},
      {"1x1:1x", ":1 f32", "expected the number of keys"},
      {"1x1:1x", "-3:1 f32", "the number of keys must not be negative"},
      {"*x1:1x", "3:1 f32", "batch * needs a list of lengths, as in *x1:4x{3,0}:8"},
      {"1x1:1x{", "}:1 f32", "expected a key length"},
      {"2x1:1x{1,", "-1}:1 f32", "a key length must not be negative"},
      {"2x1:1x{1,2", ":1 f32", "expected '}' after the key lengths"},
      {"3x1:1x", "{1,2}:1 f32", "the list has 2 key lengths, the batch has 3 members"},
      {"1x1:1x1 ", "1 f32", "expected ':' between lengths and head_dim"},
      {"1x1:1x1: ", "f32", "expected head_dim"},
      {"1x1:1x1:", "0 f32", "head_dim must be at least 1"},
      {"1x1:1x1:", "2/0 f32", "head_dim must be at least 1"},
      {"1x1:1x1:2/", " f32", "expected head_dim_v"},
      {"1x1:1x1:1", "", "expected a space and then the dtype, or q/k/v dtypes"},
      {"1x1:1x1:1", "f32", "expected a space and then the dtype, or q/k/v dtypes"},
      {"1x1:1x1:1 ", "", dtypes},
      {"1x1:1x1:1  ", "fp16", dtypes},
      {"1x1:1x1:1 ", "f32,lse=ln", dtypes},
      {"1x1:1x1:1 f32/", "", dtypes},
      {"1x1:1x1:1 f16/bf16/", "int8", dtypes},
      {"1x1:1x1:1 f32/f32/f32/", "f32", "expected at most three dtypes, of q, k and v"},
      {"1x1:1x1:1 ", "f64/f32", "q, k and v must all be f64, or none of them"},
  });
}

TEST(ProblemTextError, PointsAtTheKeyThatIsUnknownOrGivenTwice) {
  const std::string known =
      "; known: mask align win keep scale cap bias alibi order sink qv v descale out empty lse "
      "layout kv bwd tile split merge vals law";
  expect_errors({
      {"1x1:1x1:1 f32 ", "window=1:2", "unknown key 'window'" + known},
      {"1x1:1x1:1 f32 ", "=1", "unknown key ''" + known},
      {"1x1:1x1:1 f32 lse=ln ", "Lse=ln", "unknown key 'Lse'" + known},
      {"1x1:1x1:1 f32 lse", "", "expected '=' after the key"},
      {"1x1:1x1:1 f32 lse", " =ln", "expected '=' after the key"},
  });
  const std::string shape = "1x1:1x1:1 f32 ";
  for (const std::string key_value :
       {"mask=none",       "align=none", "win=*:*",       "keep=first:0",
        "scale=1",         "cap=off",    "bias=none",     "alibi=none",
        "order=scale,cap", "sink=none",  "qv=no",         "v=own",
        "descale=none",    "out=f32",    "empty=zero",    "lse=none",
        "layout=bshd",     "kv=dense",   "bwd=none",      "tile=4",
        "split=1",         "merge=left", "vals=normal:0", "law=a"}) {
    const std::string key = key_value.substr(0, key_value.find('='));
    expect_errors({{shape + key_value + " ", key_value, "key '" + key + "' is given twice"}});
  }
}

TEST(ProblemTextError, PointsAtTheBrokenMask) {
  const std::string unknown =
      "unknown mask; known: none, causal:tl, causal:br, causal:off=N, prefix:N, chunk:C, doc:LIST, "
      "bits:ROWS, block:RxC:ROWS, add:NUMBERS";
  const std::string corner = "causal needs its corner: causal:tl, causal:br or causal:off=N";
  const std::string shape = "1x1:2x3:1 f32 ";
  expect_errors({
      {shape + "mask=", "", unknown},
      {shape + "mask=", "window:3", unknown},
      {shape + "mask=causal:tl+", "none", "none stands alone"},
      {shape + "mask=causal", "", corner},
      {shape + "mask=causal:", "bl", corner},
      {shape + "mask=causal:off=", "x", "expected the offset of the diagonal"},
      {shape + "mask=causal:off=", "9223372036854775808",
       "the offset of the diagonal is too large"},
      {shape + "mask=causal:tl+", "causal:br", "'causal' is given twice"},
      {shape + "mask=bits:111+", "bits:111", "'bits' is given twice"},
      {shape + "mask=bits:", "11", "a row of mask bits has 2 characters, the problem 3 keys"},
      {shape + "mask=bits:", "1111", "a row of mask bits has 4 characters, the problem 3 keys"},
      {shape + "mask=bits:111/", "0", "a row of mask bits has 1 characters, the problem 3 keys"},
      {shape + "mask=bits:1", "x1", "expected 0 or 1"},
      {shape + "mask=bits:111/111/111", "", "mask bits have 3 rows, the problem 2 queries"},
      {shape + "mask=none", "+causal:tl", "none stands alone"},
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
      {shape + "empty=", "inf", "expected zero, reject, nan, mean or any"},
      {shape + "lse=", "log10", "expected none, ln, log2 or max_sum"},
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
    const ParseOutcome outcome = parse(line);
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
      {shape + "lit:1;3,4;5,6;7", ";8", "unexpected text after the value of 'vals'"},
      {shape + "lit:1;3,4;5,6;", "x", "expected a seed"},
      {"1x1:1x0:1 f32 vals=lit:1;", "2;", "expected ';' between k and v"},
  });
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

}  // namespace
}  // namespace attest
