#include "probe/sum_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace attest::probe {
namespace {

template <class Size>
JoinSizes made(Index keys, Size&& size) {
  JoinSizes sizes(keys);
  for (Index left = 0; left < keys; ++left)
    for (Index right = 0; right < keys; ++right)
      if (left != right) sizes.at(left, right) = size(std::min(left, right), std::max(left, right));
  return sizes;
}

TEST(SumShapes, NamesTreesWrittenByHand) {
  // ((0 1) (2 3))
  EXPECT_EQ(name_of_shape(made(4, [](Index a, Index b) { return a / 2 == b / 2 ? 2 : 4; })),
            "in pairs of neighbours");
  // (((0 1) 2) 3)
  EXPECT_EQ(name_of_shape(made(4, [](Index, Index b) { return b + 1; })),
            "one key after the other, first to last");
  // ((0 2) (1 3)), the same as two lanes added in pairs.
  EXPECT_EQ(name_of_shape(made(4, [](Index a, Index b) { return a % 2 == b % 2 ? 2 : 4; })),
            "2 lanes of keys 2 apart, added one after the other");
  EXPECT_EQ(name_of_shape(made(4, [](Index, Index) { return 4; })), "all keys at once");
}

TEST(SumShapes, WritesATreeThatHasNoName) {
  // ((0 3) 1 2)
  EXPECT_EQ(name_of_shape(made(4, [](Index a, Index b) { return a == 0 && b == 3 ? 2 : 4; })),
            "the tree ((0 3) 1 2)");
}

TEST(SumShapes, RefusesWhatIsNoTree) {
  // 0 and 1 meet below 1 and 2, 0 and 2 as well, yet 0 and 1 above them.
  EXPECT_EQ(name_of_shape(made(4,
                               [](Index a, Index b) {
                                 if (b == 3) return 4;
                                 return a == 0 && b == 1 ? 3 : 2;
                               })),
            "");
  EXPECT_EQ(name_of_shape(made(4, [](Index, Index) { return 3; })), "");
}

}  // namespace
}  // namespace attest::probe
