#include "properties/random_small.hpp"

#include <algorithm>

namespace attest::properties {

void keep_small(Case& of) {
  Problem& problem = of.problem;
  // One length may be larger where the others are tiny: tails of vectors and second tiles need it.
  const bool many_columns = problem.head_dim >= 32;
  const bool many_queries = !many_columns && problem.seq_q >= 8;
  const bool large = many_columns || many_queries;
  const Index most_heads = large ? 1 : 2;
  const Index group = std::min(problem.heads_q / problem.heads_kv, Index{large ? 1 : 3});
  of.tiling.tile_kv = std::min(of.tiling.tile_kv, Index{4});
  of.tiling.tile_q = std::min(of.tiling.tile_q, Index{4});
  problem.batch = std::min(problem.batch, most_heads);
  problem.heads_kv = std::min(problem.heads_kv, most_heads);
  problem.heads_q = problem.heads_kv * group;
  problem.seq_q = std::min(problem.seq_q, Index{many_queries ? 17 : large ? 2 : 4});
  problem.seq_kv = std::min(problem.seq_kv, Index{large ? 4 : 9});
  problem.head_dim = std::min(problem.head_dim, Index{many_columns ? 40 : 4});
  problem.head_dim_v = std::min(problem.head_dim_v, Index{4});
}

}  // namespace attest::properties
