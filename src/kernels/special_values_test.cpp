// NaN and infinities: without effect where a key is excluded, seen where it is not.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernels/test_cases.hpp"

namespace attest::kernels {
namespace {

TEST(EveryKernel, NeverReadsWhatAnExcludedKeyHolds) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    for (const double special : {kNan, kInfinity, -kInfinity}) {
      Case clean = random_case("1x2:3x{4}:2 " + dtype + " lse=ln tile=2 split=2 mask=bits:1011");
      Case poisoned = clean;
      clean.run(kernel);
      for (Index c = 0; c < 2; ++c) {
        poisoned.k.set(0, 1, 1, c, special);
        poisoned.v.set(0, 1, 1, c, special);
      }
      poisoned.run(kernel);
      EXPECT_EQ(poisoned.out.bytes(), clean.out.bytes());
      EXPECT_EQ(poisoned.lse.bytes(), clean.lse.bytes());
    }
  });
}

/// Queries 0, 1 and 2 see every key but that of their own number; query 3 sees key 3 alone.
const char* const kSpecialMask = " lse=ln mask=bits:01111/10111/11011/00010 ";

/// What `apply` changes makes `columns` of `queries` NaN, and the lse of these queries as well.
struct Poison {
  const char* name;
  std::function<void(Case&)> apply;
  std::set<Index> queries;
  std::set<Index> columns;
  bool lse_too = true;
};

TEST(EveryKernel, ShowsANanOfAVisibleScoreOrValueInTheRowsThatSeeItOnly) {
  const std::set<Index> all_columns{0, 1};
  const std::vector<Poison> poisons{
      {"a value of key 1", [](Case& c) { c.v.set(0, 0, 1, 1, kNan); }, {0, 2}, {1}, false},
      {"k of key 2", [](Case& c) { c.k.set(0, 0, 2, 0, kNan); }, {0, 1}, all_columns},
      {"k of key 3", [](Case& c) { c.k.set(0, 0, 3, 2, kNan); }, {0, 1, 2, 3}, all_columns},
      {"q of query 2", [](Case& c) { c.q.set(0, 0, 2, 1, kNan); }, {2}, all_columns},
      {"a score of +inf of query 3",
       [](Case& c) { c.q.set(0, 0, 3, 0, std::copysign(kInfinity, c.k.get(0, 0, 3, 0))); },
       {3},
       all_columns}};
  for_each_kernel_and_dtype([&](const Kernel& kernel, const std::string& dtype) {
    for (const char* tiling : {"tile=1", "tile=2 split=2", "tile=16", "tile=1 split=5 merge=right",
                               "tile=2 split=9 merge=random:3"}) {
      SCOPED_TRACE(tiling);
      Case clean = random_case("1x1:4x5:3/2 " + dtype + kSpecialMask + tiling);
      clean.run(kernel);
      for (const Poison& poison : poisons) {
        SCOPED_TRACE(poison.name);
        Case poisoned = random_case("1x1:4x5:3/2 " + dtype + kSpecialMask + tiling);
        poison.apply(poisoned);
        poisoned.run(kernel);
        const auto compare = [](double got, double was, bool is_nan) {
          if (is_nan) {
            EXPECT_TRUE(std::isnan(got)) << got;
          } else {
            EXPECT_EQ(got, was);
          }
        };
        for_each_index(clean.out.extents(), [&](Index b, Index h, Index query, Index c) {
          const bool sees = poison.queries.contains(query);
          compare(poisoned.out.get(b, h, query, c), clean.out.get(b, h, query, c),
                  sees && poison.columns.contains(c));
          compare(poisoned.lse.get(b, h, query, 0), clean.lse.get(b, h, query, 0),
                  sees && poison.lse_too);
        });
      }
    }
  });
}

}  // namespace
}  // namespace attest::kernels
