// Numbers and shapes of the problem text that are too large or too small.
#include <gtest/gtest.h>

#include <string>

#include "test_problem_text.hpp"

namespace attest {
namespace {

TEST(ProblemTextError, ANumberThatOverflowsIsRefusedWhereItStands) {
  for (const std::string before : {"1x1:1x1:1 f32 scale=", "1x1:1x1:1 f64 scale=-",
                                   "1x1:1x1:1 f32 vals=lit:", "1x1:1x1:1 f64 vals=lit:0;"}) {
    const ParseOutcome outcome = parse(before + "1e999");
    EXPECT_FALSE(outcome.ok) << before;
    EXPECT_LE(before.size() - 1, outcome.error.position) << before;
    EXPECT_LE(outcome.error.position, before.size()) << before;
  }
}

TEST(ProblemTextError, ANumberTooSmallForTheDtypeIsNotCalledTooLarge) {
  for (const std::string line : {"1x1:1x1:1 f64 scale=1e-999", "1x1:1x1:1 f32 vals=lit:1e-999;0;0",
                                 "1x1:1x1:1 f32 vals=lit:1e-99;0;0"}) {
    const ParseOutcome outcome = parse(line);
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

TEST(ProblemTextError, NoProductOfAnyKeyOverflows) {
  const std::string huge = "9223372036854775807";
  const std::string stored = "a stored tensor of this problem has more than 2^56 elements";
  const std::string pages = "the page table has more than 2^20 entries";
  expect_errors({
      {"2x2:2x3:4 f32 layout=", "bshd:col=" + huge, stored},
      {"2x2:2x3:4 f32 layout=", "bshd:pad=" + huge, stored},
      {"2x2:2x3:4 f32 layout=", "thd:pad=" + huge + ":col=" + huge, stored},
      {"2x2:2x3:4 f32 kv=", "paged:" + huge, stored},
      {"1x2:2x3:4 f32 kv=", "paged:2:" + huge + ":0,1", stored},
      {"", "1x2:72057594037927936x1:1 f32 lse=max_sum",
       "a tensor of this problem has more than 2^56 elements"},
      {"", "1x1:99999999999x99999999999:1 f32 bias=2d",
       "a tensor of this problem has more than 2^56 elements"},
      {"1x1:1x72057594037927936:1 f32 kv=paged:", "1", pages},
      {"1x1:1x72057594037927936:1 f32 kv=paged:", "2:random:3", pages},
      {"72057594037927936x1:1x0:1 f32 kv=paged:", "2", pages},
      {"1x1:1x72057594037927936:1 f32 kv=paged:2:3:", "0",
       "batch member 0 has 1 pages, its keys need 36028797018963968"},
      {"1x1:72057594037927936x2:1 f32 mask=block:1x1:11", "",
       "the block mask has 1 rows, the problem 72057594037927936 blocks of queries"},
      {"1x1:1x1:1 f32 mask=block:", huge + "0x1:1",
       "the queries of a block, as in block:RxC:ROWS is too large"},
  });
  for (const std::string& line :
       {"1x1:2x3:4 f32 mask=block:" + huge + "x" + huge + ":1",
        "1x1:2x3:4 f32 mask=causal:off=" + huge + "+prefix:" + huge + "+chunk:" + huge +
            " win=" + huge + ":" + huge + " keep=first:" + huge,
        std::string("1x1:0x0:1 f32 kv=paged:72057594037927936")})
    EXPECT_TRUE(parse(line).ok) << with_caret(line, parse(line).error);
}

}  // namespace
}  // namespace attest
