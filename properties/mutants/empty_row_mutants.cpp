// Mistakes about rows that see nothing, each at its own place: one tile, one block, one path.
#include <limits>

#include "mutants/wrong_call.hpp"

namespace attest::mutants {
namespace {

using kernels::RowContext;

template <class Real>
using Steps = kernels::TiledSteps<Real>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// exp(-inf - -inf) as a factor, where no key was seen so far and none is seen now.
template <class Real>
struct DeadFirstTileGivesNan : Steps<Real> {
  using Summary = RowSummary<Real>;
  void absorb_tile(Summary& summary, const kernels::ScoredTile<Real>& tile) const override {
    if (tile.scores.empty() && summary.row_max == Summary::minus_infinity) {
      const Real factor = std::exp(summary.row_max - summary.row_max);
      summary.row_sum *= factor;
      for (Real& element : summary.numerator) element *= factor;
    }
    Steps<Real>::absorb_tile(summary, tile);
  }
};

template <class Real>
struct EmptyRowAttendsEverywhere : Steps<Real> {
  bool skips(const RowContext&, KeyRange) const override { return false; }
  bool sees(const RowContext& row, Index key) const override {
    if (sees_nothing(row.problem, row.index())) return key < row.problem.key_length(row.b);
    return Steps<Real>::sees(row, key);
  }
};

template <class Real>
struct EmptyRowTimesZero : Steps<Real> {
  void finalize(const RowSummary<Real>& summary, const RowContext& row,
                const TensorView<const Real>& v, std::span<Real> output) const override {
    attest::finalize(summary, output);
    if (!summary.is_identity() || v.data == nullptr) return;
    // The accumulator had the values of excluded keys in it.
    for (Index key = 0; key < row.problem.seq_kv; ++key)
      for (std::size_t c = 0; c < output.size(); ++c)
        output[c] += Real(0) * v(row.b, row.problem.kv_head(row.h), key, static_cast<Index>(c));
  }
};

template <class Real>
struct EmptyLseIsZero : Steps<Real> {
  Real lse(const RowSummary<Real>& summary) const override {
    return summary.is_identity() ? Real(0) : attest::lse(summary);
  }
};

/// Rows before the first one that sees something take the path of the first tile.
void leading_empty_rows_are_nan(const Problem& problem, const Tiling&, const ForwardViews& views) {
  for_each_row(problem, [&](const RowIndex& row) {
    if (sees_nothing(problem, row.batch, 0, row.query + 1)) fill_row(views, problem, row, kNan);
  });
}

/// The path for whole vectors of eight subtracts a maximum of -inf.
void wide_empty_rows_are_nan(const Problem& problem, const Tiling&, const ForwardViews& views) {
  for_each_row(problem, [&](const RowIndex& row) {
    if (problem.key_length(row.batch) >= 8 && sees_nothing(problem, row))
      fill_row(views, problem, row, kNan);
  });
}

/// Rows of which `chosen` says so are left as they were: their output, lse, or both.
template <bool output, bool lse, class Chosen>
Status run_but_leave(const Kernel& correct, const Problem& problem, const Tiling& tiling,
                     const ForwardViews& views, Chosen&& chosen) {
  Unwritten out_before(problem, views.out);
  Unwritten lse_before(problem, views.lse);
  for_each_row(problem, [&](const RowIndex& row) {
    if (!chosen(row)) return;
    if (output) out_before.keep(row);
    if (lse && problem.lse != LseForm::none) lse_before.keep(row);
  });
  Status status = correct.forward(problem, tiling, views);
  out_before.put_back();
  lse_before.put_back();
  return status;
}

Status leave_empty_outputs(const Kernel& correct, const Problem& problem, const Tiling& tiling,
                           const ForwardViews& views) {
  return run_but_leave<true, false>(correct, problem, tiling, views, [&](const RowIndex& row) {
    return sees_nothing(problem, row);
  });
}

/// A tile of queries none of which sees a key is left early, before its lse is stored.
Status leave_lse_of_empty_tiles(const Kernel& correct, const Problem& problem, const Tiling& tiling,
                                const ForwardViews& views) {
  return run_but_leave<false, true>(correct, problem, tiling, views, [&](const RowIndex& row) {
    const Index begin = row.query / tiling.tile_q * tiling.tile_q;
    const Index end = std::min(begin + tiling.tile_q, problem.query_length(row.batch));
    return sees_nothing(problem, row.batch, begin, end);
  });
}

Status leave_members_without_keys(const Kernel& correct, const Problem& problem,
                                  const Tiling& tiling, const ForwardViews& views) {
  return run_but_leave<true, true>(correct, problem, tiling, views, [&](const RowIndex& row) {
    return problem.key_length(row.batch) == 0;
  });
}

}  // namespace

void append_empty_row_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(tiled_mutant<DeadFirstTileGivesNan>(
      "dead_first_tile_gives_nan",
      "a first tile without visible keys is rescaled by exp(inf - inf)", "mask.deleted_keys"));
  mutants.push_back(tiled_mutant<EmptyRowAttendsEverywhere>(
      "empty_row_attends_everywhere", "a row without visible keys sees all keys instead",
      "empty.forward"));
  mutants.push_back(tiled_mutant<EmptyRowTimesZero>(
      "empty_row_times_zero", "a row without visible keys is multiplied by 0 instead of set to 0",
      "mask.excluded_keys"));
  mutants.push_back(tiled_mutant<EmptyLseIsZero>(
      "empty_lse_is_zero", "the lse of a row without visible keys is 0", "empty.forward"));
  const auto call = [&](std::string_view name, std::string_view mistake, WrongForward run,
                        std::string_view killed_by) {
    mutants.push_back(wrong_call(describe(name, mistake), run, killed_by));
  };
  call("leading_empty_rows_are_nan", "rows without visible keys before all others give NaN",
       run_and_spoil<leading_empty_rows_are_nan>, "empty.forward");
  call("wide_empty_rows_are_nan", "a row without visible keys gives NaN from eight keys on",
       run_and_spoil<wide_empty_rows_are_nan>, "empty.forward");
  call("empty_output_not_written",
       "the output of a row without visible keys is left as it was, its lse is written",
       leave_empty_outputs, "contract.outputs_written");
  call("lse_of_empty_tile_not_written",
       "the lse of a tile of queries that sees no key is left as it was", leave_lse_of_empty_tiles,
       "contract.outputs_written");
  call("member_without_keys_not_written", "a batch member without keys is not written",
       leave_members_without_keys, "contract.outputs_written");
}

}  // namespace attest::mutants
