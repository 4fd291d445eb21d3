// The tiled backward pass: the loops around the steps of kernels/backward_steps.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/backward_steps.hpp"
#include "kernels/gradient_pairs.hpp"
#include "kernels/gradient_sums.hpp"

namespace attest::kernels {

template <class Real>
class TiledBackward {
 public:
  TiledBackward(const BackwardSteps<Real>& steps, const Problem& problem, const Tiling& tiling,
                const BackwardViews& views)
      : steps_(steps),
        problem_(problem),
        views_(views),
        key_tiles_(all_tiles(tiling, problem.seq_kv)),
        tile_q_(std::min(tiling.tile_q, std::max(problem.seq_q, Index{1}))),
        pairs_(steps, problem, views),
        keys_(problem),
        scores_(steps, problem, views),
        tile_dk_(longest_tile(), problem.head_dim),
        tile_dv_(longest_tile(), problem.head_dim_v),
        dq_(tile_q_, problem.head_dim),
        tile_dq_(1, problem.head_dim) {}

  void run() {
    for (Index kv_head = 0; kv_head < problem_.heads_kv; ++kv_head) {
      keys_.clear();
      for (Index b = 0; b < problem_.batch; ++b) member(b, kv_head);
      keys_.write(views_, kv_head, steps_.key_scale(pairs_.scale()));
    }
  }

 private:
  Index longest_tile() const {
    Index longest = 0;
    for (const KeyRange& tile : key_tiles_) longest = std::max(longest, tile.end - tile.begin);
    return longest;
  }

  void member(Index b, Index kv_head) {
    std::vector<QueryTile> tiles;
    deltas_.clear();
    first_head_ = kv_head * (problem_.heads_q / problem_.heads_kv);
    for_each_head_of(problem_, kv_head, [&](Index h) {
      const Index length = problem_.query_length(b);
      for (Index begin = 0; begin < length; begin += tile_q_)
        tiles.push_back({b, h, begin, std::min(length, begin + tile_q_)});
      for (Index query = 0; query < length; ++query) begin_row({b, h, query});
    });
    for (const KeyRange& tile : key_tiles_) {
      const KeyRange keys{tile.begin, std::min(tile.end, problem_.key_length(b))};
      for (const QueryTile& queries : tiles)
        if (steps_.takes(problem_, queries) && steps_.meet(problem_, queries, keys))
          add_to_keys(queries, keys);
    }
    for (const QueryTile& queries : tiles) write_queries(queries);
  }

  /// Delta once a row, and the sink, which belongs to no tile.
  void begin_row(const RowIndex& row) {
    const bool sees = pairs_.sees_something(row);
    deltas_.push_back(sees ? pairs_.delta(row) : Real(0));
    if (sees && scores_.has_sink())
      scores_.add_sink(row, pairs_.sink_gradient(row, deltas_.back()));
  }
  Real delta(const RowIndex& row) const {
    const Index at = (row.head - first_head_) * problem_.query_length(row.batch) + row.query;
    return deltas_[static_cast<std::size_t>(at)];
  }

  /// Calls body(row, key, pair) for the pairs of one query and a tile of keys.
  template <class Body>
  void for_each_pair(const RowIndex& index, const KeyRange& keys, Body&& body) {
    if (!steps_.meet(problem_, {index.batch, index.head, index.query, index.query + 1}, keys))
      return;
    const QueryRow<Real> row = pairs_.row(index, delta(steps_.delta_row(problem_, index)));
    for (Index key = keys.begin; key < keys.end; ++key)
      if (steps_.sees(problem_, index, key)) body(row, key, pairs_.pair(row, key));
  }

  void add_to_keys(const QueryTile& queries, const KeyRange& keys) {
    tile_dk_.clear();
    tile_dv_.clear();
    for (Index query = queries.begin; query < queries.end; ++query)
      for_each_pair(queries.row(query), keys,
                    [&](const QueryRow<Real>& row, Index key, const PairGradient<Real>& pair) {
                      add_scaled(tile_dk_.row(key - keys.begin), pair.dot_gradient, row.q);
                      steps_.add_value(tile_dv_.row(key - keys.begin), pair.weight,
                                       row.output_gradient);
                      scores_.add_bias(row.index, key, pair.bias_gradient);
                    });
    for (Index key = keys.begin; key < keys.end; ++key) {
      steps_.add_tile(keys_.dk(queries.b, key), tile_dk_.row(key - keys.begin));
      steps_.add_tile(keys_.dv(queries.b, key), tile_dv_.row(key - keys.begin));
    }
  }

  void write_queries(const QueryTile& queries) {
    dq_.clear();
    for (const KeyRange& tile : key_tiles_) {
      const KeyRange keys{tile.begin, std::min(tile.end, problem_.key_length(queries.b))};
      if (!steps_.meet(problem_, queries, keys)) continue;
      for (Index query = queries.begin; query < queries.end; ++query) {
        tile_dq_.clear();
        for_each_pair(queries.row(query), keys,
                      [&](const QueryRow<Real>&, Index, const PairGradient<Real>& pair) {
                        add_scaled(tile_dq_.row(0), pair.dot_gradient, pair.k);
                      });
        add_sums(dq_.row(query - queries.begin), tile_dq_.row(0));
      }
    }
    for (Index query = queries.begin; query < queries.end; ++query)
      write_scaled(views_.dq, pairs_.place(queries.row(query)), dq_.row(query - queries.begin),
                   steps_.query_scale(pairs_.scale()));
  }

  static void add_sums(std::span<Real> to, std::span<const Real> sums) {
    for (std::size_t c = 0; c < to.size(); ++c) to[c] += sums[c];
  }

  const BackwardSteps<Real>& steps_;
  const Problem& problem_;
  const BackwardViews& views_;
  std::vector<KeyRange> key_tiles_;
  Index tile_q_;
  GradientPairs<Real> pairs_;
  KeySums<Real> keys_;
  ScoreSums<Real> scores_;
  SumRows<Real> tile_dk_, tile_dv_;  ///< of one tile of keys and one of queries
  SumRows<Real> dq_;                 ///< of one tile of queries
  SumRows<Real> tile_dq_;            ///< of one query and one tile of keys
  std::vector<Real> deltas_;         ///< of the rows of one member that read one kv head
  Index first_head_ = 0;
};

}  // namespace attest::kernels
