// Numbers at the end of the range have a bound, and the correct kernels are within it.
#include <gtest/gtest.h>

#include <string>

#include "kernels/registry.hpp"
#include "properties/check.hpp"
#include "properties/laws.hpp"
#include "properties/test_case_of.hpp"

namespace attest::properties {
namespace {

void expect_judged(const std::string& line) {
  SCOPED_TRACE(line);
  const Case on = case_of(line);
  for (const char* const name :
       {"builtin:textbook", "builtin:scalar_sequential", "builtin:scalar_tree"})
    for (const char* const law : {"bound.out", "bound.lse", "tiling.tile_size"}) {
      if (std::string(law) == "tiling.tile_size" && std::string(name) == "builtin:textbook")
        continue;
      const Verdict verdict = check_case(*kernels::find_builtin(name), *find_law(law), on);
      EXPECT_EQ(verdict.outcome, Outcome::ok) << name << " " << law << ": " << verdict.reason;
    }
}

TEST(EndOfRange, AFiniteMaskAfterTheSoftcapIsJudged) {
  expect_judged(
      "1x1:1x3:1 f32 mask=add:0,-3.4028235e38,0 cap=50 lse=ln tile=2 vals=lit:1;0,1,1;1,2,3");
}

TEST(EndOfRange, TheMostNegativeDoubleAsAMaskIsJudged) {
  expect_judged(
      "1x1:1x3:1 f64 mask=add:0,-1.7976931348623157e308,0 lse=ln tile=2 vals=lit:1;0,1,1;1,2,3");
}

TEST(EndOfRange, TheLargestNumberOfANarrowTypeIsJudged) {
  expect_judged("1x1:1x2:1 f16 lse=ln tile=1 vals=lit:1;0,1;65504,65504");
}

}  // namespace
}  // namespace attest::properties
