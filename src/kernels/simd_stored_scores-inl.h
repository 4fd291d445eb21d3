// The scores of a strip that is alone: keys that are read once are not worth packing.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_STORED_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_STORED_SCORES_INL_H_
#undef ATTEST_KERNELS_SIMD_STORED_SCORES_INL_H_
#else
#define ATTEST_KERNELS_SIMD_STORED_SCORES_INL_H_
#endif

#include <algorithm>
#include <array>

#include "kernels/simd_products-inl.h"
#include "kernels/simd_runs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Keys from the one that is read to the one that is fetched, at each of these places.
inline constexpr Index kKeysAhead = 3;
/// Memory that is read at some places in turns comes faster than from one.
inline constexpr Index kStreams = 4;

/// Calls pass(j) once for each j = 0 ... count - 1, at so many places in turns.
template <class Pass>
HWY_INLINE void in_streams(Index count, const Pass& pass) {
  const Index part = count / kStreams;
  for (Index j = 0; j < part; ++j) {
    ATTEST_UNROLLED
    for (Index stream = 0; stream < kStreams; ++stream) pass(stream * part + j);
  }
  for (Index j = kStreams * part; j < count; ++j) pass(j);
}

/// A strip of so few rows meets every key in registers, along the columns.
inline constexpr Index kFewRows = 4;

/// scores(i, j) = sum_c q(i, c) k(j, c), each in one sum a lane in ascending order of c, then the
/// sum of the lanes. `q` has rows of pitch_of(head_dim) elements, zeros behind the columns.
/// `vectors` of head_dim, or 0: any columns.
template <int rows, int vectors, class Real>
HWY_NOINLINE void score_run_of_few(const Real* HWY_RESTRICT q, const RowRun<Real>& keys,
                                   const StripScores<Real>& strip) {
  const Tag<Real> d;
  const Index pitch = pitch_of<Real>(strip.head_dim);
  const Index whole = strip.head_dim / kLanes<Real> * kLanes<Real>;
  HWY_ALIGN Real rest[kLanes<Real>] = {};
  const Index count = keys.end - keys.begin;
  const auto score_key = [&](Index j) ATTEST_INLINED {
    const Real* HWY_RESTRICT const key = keys.first + j * keys.pitch;
    Vec<Real> sums[rows];
    ATTEST_UNROLLED
    for (int i = 0; i < rows; ++i) sums[i] = hn::Zero(d);
    const auto add_vector = [&](Index c) ATTEST_INLINED {
      const Vec<Real> columns = hn::LoadU(d, key + c);
      fetch_behind(key + c, kKeysAhead * keys.pitch);
      ATTEST_UNROLLED
      for (int i = 0; i < rows; ++i)
        sums[i] = hn::MulAdd(hn::Load(d, q + i * pitch + c), columns, sums[i]);
    };
    if constexpr (vectors != 0) {
      ATTEST_UNROLLED
      for (int v = 0; v < vectors; ++v) add_vector(v * kLanes<Real>);
    } else {
      for (Index c = 0; c < whole; c += kLanes<Real>) add_vector(c);
    }
    if (vectors == 0 && whole < strip.head_dim) {
      std::copy(key + whole, key + strip.head_dim, rest);
      const Vec<Real> columns = hn::Load(d, rest);
      ATTEST_UNROLLED
      for (int i = 0; i < rows; ++i)
        sums[i] = hn::MulAdd(hn::Load(d, q + i * pitch + whole), columns, sums[i]);
    }
    ATTEST_UNROLLED
    for (int i = 0; i < rows; ++i)
      strip.scores[i * kTileKeys<Real> + keys.begin + j] = hn::GetLane(hn::SumOfLanes(d, sums[i]));
  };
  in_streams(count, score_key);
}

template <int rows, class Real>
void score_runs_of_few(const StripScores<Real>& strip, const RowRuns<Real>& runs,
                       const KeyRange& keys) {
  const Index pitch = pitch_of<Real>(strip.head_dim);
  Real* const q = strip.copies;
  for (Index i = 0; i < rows; ++i) {
    for (Index c = 0; c < strip.head_dim; ++c) q[i * pitch + c] = strip.q[c * kStripRows + i];
    std::fill(q + i * pitch + strip.head_dim, q + (i + 1) * pitch, Real(0));
  }
  const auto score_run = [&](const RowRun<Real>& run) {
    if (strip.head_dim == 8 * kLanes<Real>) return score_run_of_few<rows, 8>(q, run, strip);
    if (strip.head_dim == 4 * kLanes<Real>) return score_run_of_few<rows, 4>(q, run, strip);
    score_run_of_few<rows, 0>(q, run, strip);
  };
  for (const RowRun<Real>& run : runs.all()) score_run(run.within(keys));
}

/// Scores of one panel of keys, whose rows are turned in registers. The same operations on the same
/// numbers as score_panel. Begins to fetch the rows of `next`.
template <int rows, class Real>
HWY_NOINLINE void score_stored_panel(const StripScores<Real>& strip, const PanelRows<Real>& keys,
                                     Index panel, const PanelRows<Real>& next) {
  const Tag<Real> d;
  constexpr Index kColumns = HWY_MAX(1, 16 / static_cast<Index>(sizeof(Real)));
  Vec<Real> sums[rows][kPanelVectors];
  ATTEST_UNROLLED
  for (int i = 0; i < rows; ++i) {
    ATTEST_UNROLLED
    for (int v = 0; v < kPanelVectors; ++v) sums[i][v] = hn::Zero(d);
  }
  HWY_ALIGN Real turned[kColumns * kPanelKeys<Real>];
  // A line of each row while so many columns are turned.
  constexpr Index kLine = 64 / Index{sizeof(Real)};
  constexpr Index kRowsOfStep = HWY_MAX(1, kPanelKeys<Real> * kColumns / kLine);
  const Real* q = strip.q;
  for (Index c = 0; c < strip.head_dim; c += kColumns) {
    const Index columns = HWY_MIN(kColumns, strip.head_dim - c);
    const Real* const* const fetched =
        next.data() + c % kLine / kColumns * kRowsOfStep % kPanelKeys<Real>;
    ATTEST_UNROLLED
    for (Index i = 0; i < kRowsOfStep; ++i) __builtin_prefetch(fetched[i] + c);
    ATTEST_UNROLLED
    for (int v = 0; v < kPanelVectors; ++v)
      turn_rows(keys.data() + v * kLanes<Real>, c, columns, turned + v * kLanes<Real>);
    for (Index column = 0; column < columns; ++column, q += kStripRows) {
      ATTEST_UNROLLED
      for (int i = 0; i < rows; ++i) {
        const Vec<Real> query = hn::Set(d, q[i]);
        ATTEST_UNROLLED
        for (int v = 0; v < kPanelVectors; ++v)
          sums[i][v] =
              hn::MulAdd(query, hn::Load(d, turned + column * kPanelKeys<Real> + v * kLanes<Real>),
                         sums[i][v]);
      }
    }
  }
  Real* const scores = strip.scores + panel * kPanelKeys<Real>;
  ATTEST_UNROLLED
  for (int i = 0; i < rows; ++i) {
    ATTEST_UNROLLED
    for (int v = 0; v < kPanelVectors; ++v)
      hn::Store(sums[i][v], d, scores + i * kTileKeys<Real> + v * kLanes<Real>);
  }
}

template <class Real>
HWY_INLINE void copy_row(const Real* HWY_RESTRICT row, Index columns, Real* HWY_RESTRICT to) {
  const Tag<Real> d;
  Index c = 0;
  for (; c + kLanes<Real> <= columns; c += kLanes<Real>)
    hn::Store(hn::LoadU(d, row + c), d, to + c);
  for (; c < columns; ++c) to[c] = row[c];
}

/// Rows are copied in the order of memory, and turned when they are near: while one panel is, the
/// next one comes.
template <int rows, class Real>
void score_stored_panels(const StripScores<Real>& strip, const RowRuns<Real>& runs,
                         const KeyRange& keys) {
  const Index pitch = pitch_of<Real>(strip.head_dim) + kLanes<Real>;
  PanelRows<Real> near;
  for (Index i = 0; i < kPanelKeys<Real>; ++i)
    near[static_cast<std::size_t>(i)] = strip.copies + i * pitch;
  PanelRows<Real> far = near;
  find_rows<Real>(runs, keys.begin, keys.end, far);
  for (Index begin = keys.begin; begin < keys.end; begin += kPanelKeys<Real>) {
    const Index count = HWY_MIN(kPanelKeys<Real>, keys.end - begin);
    for (Index key = 0; key < count; ++key)
      copy_row(far[static_cast<std::size_t>(key)], strip.head_dim, strip.copies + key * pitch);
    for (Index key = count; key < kPanelKeys<Real>; ++key)
      std::fill_n(strip.copies + key * pitch, strip.head_dim, Real(0));
    far = near;
    find_rows<Real>(runs, begin + kPanelKeys<Real>, keys.end, far);
    score_stored_panel<rows>(strip, near, begin / kPanelKeys<Real>, far);
  }
}

/// Scores of some keys of a tile. Precondition: keys.begin is that of a panel.
template <class Real>
void score_stored_strip(const StripScores<Real>& strip, const RowRuns<Real>& runs,
                        const KeyRange& keys) {
  if constexpr (kStripRows > 6) {
    if (strip.rows > 8) return score_stored_panels<kStripRows>(strip, runs, keys);
    if (strip.rows > 6) return score_stored_panels<8>(strip, runs, keys);
  }
  if (strip.rows > 4) return score_stored_panels<6>(strip, runs, keys);
  if (strip.rows > 2) return score_stored_panels<4>(strip, runs, keys);
  if (strip.rows > 1) return score_stored_panels<2>(strip, runs, keys);
  score_stored_panels<1>(strip, runs, keys);
}

/// The same for kFewRows at most, in another order of the columns: several times as fast.
template <class Real>
void score_few_rows(const StripScores<Real>& strip, const RowRuns<Real>& runs,
                    const KeyRange& keys) {
  if (strip.rows > 2) return score_runs_of_few<kFewRows>(strip, runs, keys);
  if (strip.rows > 1) return score_runs_of_few<2>(strip, runs, keys);
  score_runs_of_few<1>(strip, runs, keys);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
