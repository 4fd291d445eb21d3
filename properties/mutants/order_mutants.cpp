// Kernels that declare bits which no split, or no order of keys, changes, and err.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/row_access.hpp"
#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {
namespace {

KernelDescription declare(std::string_view name, std::string_view mistake, Reproducible promise,
                          Index leaf) {
  KernelDescription description = describe(name, mistake);
  description.capabilities.dtypes = {Dtype::f32};
  description.capabilities.reproducible = promise;
  description.capabilities.leaf = leaf;
  return description;
}

/// A correct kernel whose leaves are tiles of one length, in the splits of the call.
class LeavesOf : public Kernel {
 public:
  LeavesOf(KernelDescription description, std::unique_ptr<Kernel> kernel, Index leaf)
      : description_(std::move(description)), kernel_(std::move(kernel)), leaf_(leaf) {}
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return kernel_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    Tiling leaves = tiling;
    leaves.tile_kv = leaf_;
    // A tree over splits does not fit the leaves.
    if (leaves.merge.kind == MergeOrder::Kind::explicit_tree) leaves.merge = {};
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    return kernel_->forward(problem, leaves, views);
  }

 private:
  KernelDescription description_;
  std::unique_ptr<Kernel> kernel_;
  Index leaf_;
};

enum class GridMistake { rounds_to_nearest, sums_in_float, grid_of_tile };

/// Two passes over the keys, sums on a grid, with one mistake in the sums.
class GridSums : public Kernel {
 public:
  GridSums(KernelDescription description, GridMistake mistake)
      : description_(std::move(description)), mistake_(mistake) {}
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return kernels::scalar_accuracy(problem, SummaryScope::row);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    if (Status status = kernels::reject_all_masked(problem); !status.ok()) return status;
    for_each_row(problem, [&](const RowIndex& row) { write(problem, tiling, views, row); });
    return {};
  }

 private:
  struct Key {
    Index at;
    float weight;
  };
  using Tiles = std::vector<std::vector<Key>>;

  void write(const Problem& problem, const Tiling& tiling, const ForwardViews& views,
             const RowIndex& row) const {
    float row_max = RowSummary<float>::minus_infinity;
    Tiles tiles = scores(problem, tiling, views, row, row_max);
    for (std::vector<Key>& tile : tiles)
      for (Key& key : tile) key.weight = std::exp(key.weight - row_max);
    const float row_sum = sum(tiles, [](Index) { return 1.0F; });
    const TensorView<const float> v = views.v.as<const float>();
    const TensorView<float> out = views.out.as<float>();
    const Index kv_head = problem.kv_head(row.head);
    for (Index c = 0; c < problem.head_dim_v; ++c) {
      const float numerator = sum(tiles, [&](Index key) { return v(row.batch, kv_head, key, c); });
      out(row.batch, row.head, row.query, c) = row_sum == 0 ? 0 : numerator / row_sum;
    }
    if (problem.lse == LseForm::none) return;
    views.lse.as<float>()(row.batch, row.head, row.query, 0) =
        row_sum == 0 ? row_max : row_max + std::log(row_sum);
  }

  /// Tile by tile in the order of the call; keys that the row does not see are left out.
  static Tiles scores(const Problem& problem, const Tiling& tiling, const ForwardViews& views,
                      const RowIndex& row, float& row_max) {
    const TensorView<const float> q = views.q.as<const float>();
    const TensorView<const float> k = views.k.as<const float>();
    Tiles tiles;
    for (const KeyRange& range : all_tiles(tiling, problem.seq_kv)) {
      tiles.emplace_back();
      for (Index key = range.begin; key < range.end; ++key) {
        if (!visible(problem, row.batch, row.query, key)) continue;
        float dot = 0;
        for (Index c = 0; c < problem.head_dim; ++c)
          dot += q(row.batch, row.head, row.query, c) *
                 k(row.batch, problem.kv_head(row.head), key, c);
        tiles.back().push_back({key, dot * static_cast<float>(scale_value(problem))});
        row_max = std::max(row_max, tiles.back().back().weight);
      }
    }
    return tiles;
  }

  /// The sum of weight times value(key).
  template <class Value>
  float sum(const Tiles& tiles, const Value& value) const {
    const float start = grid_start(tiles, value);
    float total = mistake_ == GridMistake::rounds_to_nearest ? start : 0;
    for (const std::vector<Key>& tile : tiles) {
      const float of_tile = mistake_ == GridMistake::grid_of_tile ? grid_start({tile}, value) : 0;
      for (const Key& key : tile) {
        const float term = key.weight * value(key.at);
        total += mistake_ == GridMistake::grid_of_tile ? (term + of_tile) - of_tile : term;
      }
    }
    return mistake_ == GridMistake::rounds_to_nearest ? total - start : total;
  }

  /// An accumulator that begins here stays in its binade.
  template <class Value>
  static float grid_start(const Tiles& tiles, const Value& value) {
    float largest = 0;
    int count = 1;
    for (const std::vector<Key>& tile : tiles)
      for (const Key& key : tile) {
        largest = std::max(largest, std::abs(value(key.at)));
        ++count;
      }
    return largest == 0 ? 0 : std::ldexp(1.5F, std::ilogb(largest) + std::ilogb(count) + 4);
  }

  KernelDescription description_;
  GridMistake mistake_;
};

void add_grid(std::vector<Mutant>& mutants, std::string_view name, std::string_view mistake,
              GridMistake kind, std::string_view killed_by) {
  mutants.push_back(
      {std::make_unique<GridSums>(declare(name, mistake, Reproducible::any_order, 1), kind),
       killed_by});
}

}  // namespace

void append_order_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(
      {std::make_unique<LeavesOf>(
           declare("merges_from_left", "leaves are added from left to right, split by split",
                   Reproducible::splits, 4),
           kernels::make_scalar_sequential(), 4),
       "order.contiguous_splits"});
  mutants.push_back(
      {std::make_unique<LeavesOf>(
           declare("leaves_from_begin_of_split", "leaves are counted from the begin of a split",
                   Reproducible::splits, 4),
           kernels::make_scalar_tree(), 6),
       "order.contiguous_splits"});
  add_grid(mutants, "order_free_to_nearest", "sums on a grid are rounded to nearest",
           GridMistake::rounds_to_nearest, "order.key_permutation");
  add_grid(mutants, "order_free_in_float", "sums are rounded at every key",
           GridMistake::sums_in_float, "order.key_permutation");
  add_grid(mutants, "order_free_grid_of_tile", "terms are rounded to a grid of their tile",
           GridMistake::grid_of_tile, "order.any_split");
}

}  // namespace attest::mutants
