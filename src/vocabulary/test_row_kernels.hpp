// Kernels of one row and the exact facts of what they compute.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "attest/summary.hpp"
#include "test_error_bound.hpp"

namespace attest {

/// Stored numbers of one row.
template <class Real>
struct Inputs {
  Real scale = 1;
  std::vector<Real> q;
  std::vector<Real> k;  ///< row-major, keys x head_dim
  std::vector<Real> v;  ///< row-major, keys x columns
  std::size_t columns = 1;

  std::size_t head_dim() const { return q.size(); }
  std::size_t keys() const { return k.size() / q.size(); }
  std::span<const Real> value(std::size_t key) const {
    return std::span<const Real>(v).subspan(key * columns, columns);
  }
  /// Keys [begin, end) alone.
  Inputs part(std::size_t begin, std::size_t end) const {
    Inputs inputs = *this;
    const auto cut = [&](const std::vector<Real>& all, std::size_t width) {
      return std::vector<Real>(all.begin() + static_cast<std::ptrdiff_t>(begin * width),
                               all.begin() + static_cast<std::ptrdiff_t>(end * width));
    };
    inputs.k = cut(k, head_dim());
    inputs.v = cut(v, columns);
    return inputs;
  }
};

template <class Real>
ExactRow exact_row(const Inputs<Real>& inputs) {
  ExactRow row;
  const std::size_t head_dim = inputs.head_dim();
  for (std::size_t j = 0; j < inputs.keys(); ++j) {
    Wide dot = 0;
    Wide magnitude = 0;
    for (std::size_t c = 0; c < head_dim; ++c) {
      const Wide product = Wide{inputs.q[c]} * Wide{inputs.k[j * head_dim + c]};
      dot += product;
      magnitude += std::abs(product);
    }
    const Wide rounding = 1 + static_cast<Wide>(2 * head_dim + 2) * kWideUlp;
    row.scores.push_back(dot * Wide{inputs.scale});
    row.magnitudes.push_back(magnitude * std::abs(Wide{inputs.scale}) * rounding);
    row.dot_magnitude_max = std::max(row.dot_magnitude_max, magnitude * rounding);
    row.score_error = std::max(row.score_error, row.magnitudes.back() * (rounding - 1));
  }
  row.values.assign(inputs.v.begin(), inputs.v.end());
  row.columns = inputs.columns;
  row.scale = static_cast<double>(inputs.scale);
  row.head_dim = static_cast<Index>(head_dim);
  return row;
}

/// Of the kernels below: dot products in order; exp and log of the C library, below one ulp.
template <class Real>
DeclaredAccuracy declared(const Inputs<Real>& inputs, SummaryScope scope) {
  DeclaredAccuracy accuracy;
  accuracy.format = format_of(dtype_of<Real>());
  accuracy.dot_roundings = static_cast<Index>(inputs.head_dim()) + 1;
  accuracy.exp_relative_error = 2 * accuracy.format.unit_roundoff;
  accuracy.exp_absolute_error = 2 * accuracy.format.rounding_underflow;
  accuracy.log_relative_error = 2 * accuracy.format.unit_roundoff;
  accuracy.scope = scope;
  return accuracy;
}

template <class Real>
Real score(const Inputs<Real>& inputs, std::size_t key) {
  Real dot = 0;
  for (std::size_t c = 0; c < inputs.head_dim(); ++c)
    dot += inputs.q[c] * inputs.k[key * inputs.head_dim() + c];
  return inputs.scale * dot;
}

/// Takes in the keys of one tile, whose maximum is found first.
template <class Real>
void absorb_tile(RowSummary<Real>& summary, const Inputs<Real>& inputs, KeyRange tile) {
  std::vector<Real> scores;
  for (Index key = tile.begin; key < tile.end; ++key)
    scores.push_back(score(inputs, static_cast<std::size_t>(key)));
  if (scores.empty()) return;
  raise_row_max(summary,
                std::max(summary.row_max, *std::max_element(scores.begin(), scores.end())));
  for (Index key = tile.begin; key < tile.end; ++key)
    add_weighted(summary,
                 std::exp(scores[static_cast<std::size_t>(key - tile.begin)] - summary.row_max),
                 inputs.value(static_cast<std::size_t>(key)));
}

template <class Real>
RowSummary<Real> summarise(const Inputs<Real>& inputs, SummaryScope scope, const Tiling& tiling) {
  const auto seq_kv = static_cast<Index>(inputs.keys());
  std::vector<KeyRange> units{{0, seq_kv}};
  if (scope == SummaryScope::split) units = split_ranges(tiling, seq_kv);
  if (scope == SummaryScope::tile) units = all_tiles(tiling, seq_kv);
  const MergeOrder order = scope == SummaryScope::row ? MergeOrder{} : tiling.merge;
  const MergeTree tree = make_merge_tree(order, static_cast<Index>(units.size())).value();
  return evaluate(
      tree,
      [&](Index leaf) {
        const KeyRange unit = units[static_cast<std::size_t>(leaf)];
        auto summary = RowSummary<Real>::identity(static_cast<Index>(inputs.columns));
        if (scope != SummaryScope::split)
          absorb_tile(summary, inputs, unit);
        else
          for (const KeyRange tile : tile_ranges(unit, tiling.tile_kv))
            absorb_tile(summary, inputs, tile);
        return summary;
      },
      [](RowSummary<Real> left, RowSummary<Real> right) {
        return merge(std::move(left), std::move(right));
      });
}

template <class Real>
NormalisedRow<Real> textbook(const Inputs<Real>& inputs) {
  return normalise(summarise(inputs, SummaryScope::row, Tiling{}));
}

/// `row` is within the bound of every output and of the lse.
template <class Real>
void expect_within(const RowBound& bound, const RowFacts& facts, const NormalisedRow<Real>& row) {
  ASSERT_EQ(bound.output.size(), row.output.size());
  for (std::size_t c = 0; c < row.output.size(); ++c) {
    const auto got = static_cast<double>(row.output[c]);
    EXPECT_LE(facts.output[c].distance_lower(got), bound.output[c])
        << "column " << c << ", got " << got << ", exact " << facts.output[c].high;
  }
  const auto lse = static_cast<double>(row.lse);
  EXPECT_LE(facts.lse.distance_lower(lse), bound.lse)
      << "lse, got " << lse << ", exact " << facts.lse.high;
}

}  // namespace attest
