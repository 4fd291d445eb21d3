// Mistakes about the diagonal of a mask, its windows, and when it holds at all.
#include "mutants/wrong_call.hpp"

namespace attest::mutants {
namespace {

using kernels::RowContext;

template <class Real>
struct LooksAtEveryTile : kernels::TiledSteps<Real> {
  bool skips(const RowContext&, KeyRange) const override { return false; }
  static bool is_seen(const RowContext& row, Index key) {
    return visible(row.problem, row.b, row.query, key);
  }
};

template <class Real>
struct AsManyKeysAsQueries : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    return key < row.problem.query_length(row.b) && this->is_seen(row, key);
  }
};

template <class Real>
struct FirstTileAlwaysSeen : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    const bool first = key < std::min(row.tiling.tile_kv, row.problem.key_length(row.b));
    return (row.problem.mask.causal && first) || this->is_seen(row, key);
  }
};

/// Two masks at once: the diagonal cuts whole tiles, and the bits hide what is left.
template <class Real>
struct CausalAndBitsCutTiles : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    if (!this->is_seen(row, key)) return false;
    const Mask& mask = row.problem.mask;
    if (!mask.causal || !mask.bits) return true;
    const Index tile = row.tiling.tile_kv;
    return key < (row.query + causal_offset(row.problem, row.b) + 1) / tile * tile;
  }
};

/// K and V are cut to the last `window` keys before rows are looked at.
template <class Real>
struct WindowOfTheLastQuery : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    const auto& left = row.problem.mask.window.left;
    const Index first = left ? row.problem.key_length(row.b) - *left - 1 : 0;
    return key >= first && this->is_seen(row, key);
  }
};

/// No limit is passed on as -1 and read as a limit: [p + 1, p].
template <class Real>
struct NoLimitIsMinusOne : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    const Mask& mask = row.problem.mask;
    const bool reads_it = mask.causal && !mask.window.left;
    return !reads_it && this->is_seen(row, key);
  }
};

/// -1 / 2 is 0: a row before the first key looks into the first tile.
template <class Real>
struct NegativeBoundIsZero : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    const Mask& mask = row.problem.mask;
    if (!mask.window.none() && key == 0 && row.problem.key_length(row.b) > 0) {
      const Index at = row.query + mask_offset(row.problem, row.b);
      if (at < 0 && at > -row.tiling.tile_kv) return true;
    }
    return this->is_seen(row, key);
  }
};

/// Keys of a tile of queries end where they would under a causal mask.
template <class Real>
struct WindowSpanOfACausalTile : LooksAtEveryTile<Real> {
  bool sees(const RowContext& row, Index key) const override {
    const Mask& mask = row.problem.mask;
    if (!this->is_seen(row, key)) return false;
    if (!mask.window.left || mask.window.right || mask.causal) return true;
    const Index first = row.query / row.tiling.tile_q * row.tiling.tile_q;
    return key <= first + row.tiling.tile_q - 1 + mask_offset(row.problem, row.b);
  }
};

void top_left_for_more_queries(Problem& problem) {
  auto& causal = problem.mask.causal;
  if (causal && causal->alignment == Causal::Alignment::bottom_right &&
      problem.seq_q > problem.seq_kv)
    causal = Causal{};
}

void ignores_offset(Problem& problem) {
  auto& causal = problem.mask.causal;
  if (causal && causal->alignment == Causal::Alignment::explicit_offset) causal = Causal{};
}

void no_causal(Problem& problem) {
  problem.mask.causal.reset();
}

void no_causal_under_softcap(Problem& problem) {
  if (problem.softcap != 0) no_causal(problem);
}

void no_causal_in_a_cache(Problem& problem) {
  if (problem.kv.kind == KvStorage::Kind::paged) no_causal(problem);
}

void window_one_wider(Problem& problem) {
  if (problem.mask.window.left) ++*problem.mask.window.left;
}

}  // namespace

void append_diagonal_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(tiled_mutant<AsManyKeysAsQueries>(
      "as_many_keys_as_queries", "the loop over keys ends at the number of queries",
      "symmetry.key_permutation"));
  mutants.push_back(tiled_mutant<FirstTileAlwaysSeen>(
      "first_tile_always_seen", "the first tile of keys is seen by every causal row",
      "mask.causal_prefix"));
  mutants.push_back(tiled_mutant<CausalAndBitsCutTiles>(
      "causal_and_bits_cut_tiles", "under a diagonal and bits, a tile on the diagonal is skipped",
      "mask.visible_set"));
  const auto window = [&]<template <class> class Wrong>(
                          std::string_view name, std::string_view mistake, std::string_view law) {
    mutants.push_back(tiled_with<Wrong>(describe_with(name, mistake, {Feature::window}), law));
  };
  window.operator()<WindowOfTheLastQuery>("window_of_the_last_query",
                                          "keys before the window of the last query are dropped",
                                          "mask.window_edges");
  window.operator()<NoLimitIsMinusOne>("no_limit_is_minus_one",
                                       "no left limit is passed as -1 and read as a limit",
                                       "mask.causal_prefix");
  window.operator()<NegativeBoundIsZero>("negative_bound_is_zero",
                                         "a row before the first key looks into the first tile",
                                         "mask.window_edges");
  window.operator()<WindowSpanOfACausalTile>(
      "window_span_of_a_causal_tile",
      "a window without a right limit ends with its tile of queries", "mask.window_edges");
  const auto changed = [&](std::string_view name, std::string_view mistake,
                           void (*change)(Problem&), std::string_view law,
                           std::vector<Feature> features = {}) {
    mutants.push_back(
        changed_problem(describe_with(name, mistake, std::move(features)), change, law));
  };
  changed("top_left_for_more_queries", "bottom right becomes top left where queries outnumber keys",
          top_left_for_more_queries, "mask.tables");
  changed("ignores_the_offset", "the offset of a diagonal (the length of a cache) is left out",
          ignores_offset, "bound.out");
  changed("causal_ignored", "the causal flag has no effect", no_causal, "mask.causal_prefix");
  changed("causal_ignored_under_softcap", "with a softcap the causal flag has no effect",
          no_causal_under_softcap, "bound.out", {Feature::softcap});
  changed("causal_ignored_in_a_cache", "keys in a cache are taken for those of one new token",
          no_causal_in_a_cache, "bound.out", {Feature::paged});
  changed("window_one_too_wide", "the left limit of a window is larger by one", window_one_wider,
          "mask.window_edges", {Feature::window});
}

}  // namespace attest::mutants
