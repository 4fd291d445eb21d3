// Bias, ALiBi, additive mask and softcap on the scores of one strip and one tile.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_TERMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_TERMS_INL_H_
#undef ATTEST_KERNELS_SIMD_TERMS_INL_H_
#else
#define ATTEST_KERNELS_SIMD_TERMS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "kernels/score_terms.hpp"
#include "kernels/simd_convert-inl.h"
#include "kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// The order of attest/score_terms.hpp, one rounding for each addition and for the product of
/// ALiBi.
template <class Real>
class TileTerms {
 public:
  /// The problem is kept by reference; `bias` is not looked at where it has none.
  TileTerms(const Problem& problem, const ConstTensorRef& bias)
      : problem_(problem), bias_(bias), softcap_(static_cast<Real>(problem.softcap)) {
    if (!problem.alibi) return;
    for (Index h = 0; h < problem.heads_q; ++h) slopes_.push_back(alibi_slope(problem, h));
  }

  bool any() const {
    return softcap_ != 0 || problem_.bias || problem_.alibi || problem_.mask.additive;
  }

  /// `scores` holds scale * (q . k) of the keys of the tile, up to a whole vector.
  void apply(const RowIndex& row, const KeyRange& keys, Real* scores) {
    add(row, keys, scores, true);
    if (softcap_ != 0) cap(keys.end - keys.begin, scores);
    add(row, keys, scores, false);
  }

 private:
  static constexpr std::size_t kBuffer = static_cast<std::size_t>(kTileKeys<Real>);

  void add(const RowIndex& row, const KeyRange& keys, Real* scores, bool before) {
    const ScoreOrder& order = problem_.order;
    if (problem_.bias && order.bias_before_softcap == before) {
      read_bias(row, keys);
      add_numbers(keys.end - keys.begin, scores);
    }
    if (problem_.alibi && order.alibi_before_softcap == before) {
      find_alibi(row, keys);
      add_numbers(keys.end - keys.begin, scores);
    }
    if (problem_.mask.additive && order.mask_before_softcap == before) {
      for (Index key = keys.begin; key < keys.end; ++key)
        at(key - keys.begin) = static_cast<Real>(problem_.mask.additive->at(row.query, key));
      add_numbers(keys.end - keys.begin, scores);
    }
  }

  Real& at(Index key) { return numbers_[static_cast<std::size_t>(key)]; }

  /// What lies behind the keys of the tile is excluded later.
  void add_numbers(Index keys, Real* scores) {
    const Tag<Real> d;
    for (Index key = 0; key < keys; key += kLanes<Real>)
      hn::Store(hn::Add(hn::Load(d, scores + key), hn::LoadU(d, numbers_.data() + key)), d,
                scores + key);
  }

  void read_bias(const RowIndex& row, const KeyRange& keys) {
    const RowPlace place = bias_place(*problem_.bias, row);
    const Index step = bias_.strides[3];
    const auto size = static_cast<Index>(size_of(bias_.dtype));
    const auto* const first = static_cast<const std::byte*>(bias_.data) + row_offset(bias_, place) +
                              keys.begin * step * size;
    const Index count = keys.end - keys.begin;
    if (is_contiguous<Real>(bias_)) {
      const auto* const numbers = reinterpret_cast<const Real*>(first);
      std::copy(numbers, numbers + count, numbers_.begin());
      return;
    }
    if constexpr (std::is_same_v<Real, float>)
      if (step == 1 && converts(bias_.dtype))
        return convert_from(bias_.dtype, reinterpret_cast<const std::uint16_t*>(first), count,
                            numbers_.data());
    for (Index key = 0; key < count; ++key)
      at(key) = static_cast<Real>(load_element(bias_.dtype, first + key * step * size));
  }

  void find_alibi(const RowIndex& row, const KeyRange& keys) {
    const double slope = slopes_[static_cast<std::size_t>(row.head)];
    for (Index key = keys.begin; key < keys.end; ++key)
      at(key - keys.begin) = static_cast<Real>(alibi_term(problem_, slope, row, key));
  }

  void cap(Index keys, Real* scores) {
    const Tag<Real> d;
    const Vec<Real> softcap = hn::Set(d, softcap_);
    for (Index key = 0; key < keys; key += kLanes<Real>)
      hn::Store(hn::Mul(softcap, Tanh(d, hn::Div(hn::Load(d, scores + key), softcap))), d,
                scores + key);
  }

  const Problem& problem_;
  ConstTensorRef bias_;
  Real softcap_;
  std::vector<double> slopes_;
  std::array<Real, kBuffer> numbers_{};
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
