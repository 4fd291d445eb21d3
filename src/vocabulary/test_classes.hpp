// The class of a tile by the definition, pair by pair.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "test_problem.hpp"

namespace attest {

inline std::string name_of(TileClass tile_class) {
  switch (tile_class) {
    case TileClass::empty:
      return "empty";
    case TileClass::partial:
      return "partial";
    case TileClass::full:
      return "full";
  }
  return "?";
}

/// The definition of TileClass, pair by pair.
inline TileClass counted_class(const Problem& problem, Index b, Index query_begin, Index query_end,
                               Index key_begin, Index key_end) {
  Index pairs = 0;
  Index seen = 0;
  for (Index query = query_begin; query < query_end; ++query)
    for (Index key = key_begin; key < key_end; ++key) {
      ++pairs;
      if (visible(problem, b, query, key)) ++seen;
    }
  if (seen == 0) return TileClass::empty;
  return seen == pairs ? TileClass::full : TileClass::partial;
}

/// Every rectangle of every batch member, those of no pair and with swapped ends included.
inline void expect_classes_as_counted(const Problem& problem) {
  ASSERT_EQ(refusal(problem), "not refused");
  for (Index b = 0; b < problem.batch; ++b)
    for (Index query_begin = 0; query_begin <= problem.seq_q; ++query_begin)
      for (Index query_end = 0; query_end <= problem.seq_q; ++query_end)
        for (Index key_begin = 0; key_begin <= problem.seq_kv; ++key_begin)
          for (Index key_end = 0; key_end <= problem.seq_kv; ++key_end) {
            const TileClass want =
                counted_class(problem, b, query_begin, query_end, key_begin, key_end);
            const TileClass got = classify(problem, b, query_begin, query_end, key_begin, key_end);
            ASSERT_EQ(name_of(got), name_of(want))
                << "batch member " << b << ", queries [" << query_begin << ", " << query_end
                << "), keys [" << key_begin << ", " << key_end << ")";
          }
}

}  // namespace attest
