#include "kernels/backward.hpp"
#include "kernels/gradient_pairs.hpp"
#include "kernels/gradient_sums.hpp"

namespace attest::kernels {
namespace {

/// Consecutive queries of one head.
struct QueryTile {
  Index b = 0;
  Index h = 0;
  Index begin = 0;
  Index end = 0;

  RowIndex row(Index query) const { return {b, h, query}; }
};

template <class Real>
class TiledBackward {
 public:
  TiledBackward(const Problem& problem, const Tiling& tiling, const BackwardViews& views)
      : problem_(problem),
        views_(views),
        key_tiles_(all_tiles(tiling, problem.seq_kv)),
        tile_q_(std::min(tiling.tile_q, std::max(problem.seq_q, Index{1}))),
        pairs_(problem, views),
        keys_(problem),
        scores_(problem, views),
        tile_dk_(longest_tile(), problem.head_dim),
        tile_dv_(longest_tile(), problem.head_dim_v),
        dq_(tile_q_, problem.head_dim),
        tile_dq_(1, problem.head_dim) {}

  void run() {
    for (Index kv_head = 0; kv_head < problem_.heads_kv; ++kv_head) {
      keys_.clear();
      for (Index b = 0; b < problem_.batch; ++b) member(b, kv_head);
      keys_.write(views_, kv_head, pairs_.scale());
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
        if (meet(queries, keys)) add_to_keys(queries, keys);
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

  bool meet(const QueryTile& queries, const KeyRange& keys) const {
    return classify(problem_, queries.b, queries.begin, queries.end, keys.begin, keys.end) !=
           TileClass::empty;
  }

  /// Calls body(row, key, pair) for the pairs of one query and a tile of keys.
  template <class Body>
  void for_each_pair(const RowIndex& index, const KeyRange& keys, Body&& body) {
    if (!meet({index.batch, index.head, index.query, index.query + 1}, keys)) return;
    const QueryRow<Real> row = pairs_.row(index, delta(index));
    for (Index key = keys.begin; key < keys.end; ++key)
      if (visible(problem_, index.batch, index.query, key)) body(row, key, pairs_.pair(row, key));
  }

  void add_to_keys(const QueryTile& queries, const KeyRange& keys) {
    tile_dk_.clear();
    tile_dv_.clear();
    for (Index query = queries.begin; query < queries.end; ++query)
      for_each_pair(queries.row(query), keys,
                    [&](const QueryRow<Real>& row, Index key, const PairGradient<Real>& pair) {
                      add_scaled(tile_dk_.row(key - keys.begin), pair.dot_gradient, row.q);
                      add_scaled(tile_dv_.row(key - keys.begin), pair.weight, row.output_gradient);
                      scores_.add_bias(row.index, key, pair.bias_gradient);
                    });
    for (Index key = keys.begin; key < keys.end; ++key) {
      add_sums(keys_.dk(queries.b, key), tile_dk_.row(key - keys.begin));
      add_sums(keys_.dv(queries.b, key), tile_dv_.row(key - keys.begin));
    }
  }

  void write_queries(const QueryTile& queries) {
    dq_.clear();
    for (const KeyRange& tile : key_tiles_) {
      const KeyRange keys{tile.begin, std::min(tile.end, problem_.key_length(queries.b))};
      if (!meet(queries, keys)) continue;
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
                   pairs_.scale());
  }

  static void add_sums(std::span<Real> to, std::span<const Real> sums) {
    for (std::size_t c = 0; c < to.size(); ++c) to[c] += sums[c];
  }

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

}  // namespace

void tiled_backward(const Problem& problem, const Tiling& tiling, const BackwardViews& views) {
  with_real_type(problem.compute_dtype(),
                 [&](auto real) { TiledBackward<decltype(real)>(problem, tiling, views).run(); });
}

}  // namespace attest::kernels
