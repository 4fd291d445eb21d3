// Wildcards in names.
#include "attest/glob.hpp"

#include <gtest/gtest.h>

#include <string>

namespace attest {
namespace {

TEST(Glob, StandsForWholeNames) {
  EXPECT_TRUE(glob_matches("bound.out", "bound.out"));
  EXPECT_FALSE(glob_matches("bound", "bound.out"));
  EXPECT_FALSE(glob_matches("bound.out", "bound"));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_TRUE(glob_matches("", ""));
}

TEST(Glob, StarsStandForAnyCharactersAndQuestionMarksForOne) {
  for (const char* const glob : {"*", "bound.*", "*.out", "b*d*t", "**", "bound.out*", "?ound.???"})
    EXPECT_TRUE(glob_matches(glob, "bound.out")) << glob;
  for (const char* const glob : {"*x", "bound.*x", "*.ou", "b*x*t", "?bound.out", "bound.out?"})
    EXPECT_FALSE(glob_matches(glob, "bound.out")) << glob;
  EXPECT_TRUE(glob_matches("*aab", "aaaab"));
}

TEST(Glob, ManyStarsTakeNoTime) {
  std::string stars;
  for (int i = 0; i < 40; ++i) stars += "*a";
  EXPECT_FALSE(glob_matches(stars + "b", std::string(60, 'a')));
}

}  // namespace
}  // namespace attest
