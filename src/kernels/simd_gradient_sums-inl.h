// Where gradients are added up in the compute type, and how they are written.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_GRADIENT_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_GRADIENT_SUMS_INL_H_
#undef ATTEST_KERNELS_SIMD_GRADIENT_SUMS_INL_H_
#else
#define ATTEST_KERNELS_SIMD_GRADIENT_SUMS_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "kernels/score_terms.hpp"
#include "kernels/simd_gradient_pack-inl.h"
#include "kernels/stored_places.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// to(c) += sums(c).
template <class Real>
HWY_INLINE void add_row(const Real* HWY_RESTRICT sums, Index columns, Real* HWY_RESTRICT to) {
  const Tag<Real> d;
  Index c = 0;
  for (; c + kLanes<Real> <= columns; c += kLanes<Real>)
    hn::StoreU(hn::Add(hn::LoadU(d, to + c), hn::Load(d, sums + c)), d, to + c);
  for (; c < columns; ++c) to[c] += sums[c];
}

/// scale times each sum. No result is -0: what excluded pairs added, 0 of either sign, leaves no
/// trace.
template <class Real>
HWY_INLINE void finish_row(Real* sums, Index columns, Real scale) {
  const Tag<Real> d;
  Index c = 0;
  for (; c + kLanes<Real> <= columns; c += kLanes<Real>)
    hn::StoreU(hn::Add(hn::Mul(hn::Set(d, scale), hn::LoadU(d, sums + c)), hn::Zero(d)), d,
               sums + c);
  for (; c < columns; ++c) sums[c] = sums[c] * scale + Real(0);
}

/// Each element rounded once to the type of the tensor.
template <class Real>
void store_row(const TensorRef& to, const RowPlace& at, const Real* from) {
  const Index columns = to.extents[3];
  if constexpr (std::is_same_v<Real, float>)
    if (converts(to.dtype) && to.strides[3] == 1) {
      auto* const first = static_cast<std::byte*>(to.data) + row_offset(to, at);
      return convert_to(to.dtype, from, columns, reinterpret_cast<std::uint16_t*>(first));
    }
  write_row(to, at, std::span<const Real>(from, static_cast<std::size_t>(columns)));
}

/// Keys of one kv head: those of one member, or of all members that may share pages.
struct KeySlots {
  std::vector<Index> members;
  Index count = 0;  ///< slots that keys lie in
};

/// dk or dv of one kv head, slot by slot: what members share is added up. The sums lie in the
/// output itself where it has the compute type.
template <class Real>
class KeyGradient {
 public:
  /// Results are `scale` times the sums. The problem is kept by reference.
  KeyGradient(const Problem& problem, const TensorRef& to, Real scale, AlignedBuffer<Real>& memory)
      : problem_(problem),
        places_(problem),
        to_(to),
        columns_(to.extents[3]),
        scale_(scale),
        memory_(memory),
        in_place_(is_contiguous<Real>(to)),
        paged_(problem.kv.kind == KvStorage::Kind::paged) {}

  void begin(const KeySlots& slots, Index kv_head) {
    kv_head_ = kv_head;
    if (!in_place_) sums_ = memory_.at_least(slots.count * columns_);
    states_.assign(static_cast<std::size_t>(slots.count), State::empty);
  }

  /// `last`: nothing will be added to these keys any more.
  void add(Index b, const KeyRange& keys, const Real* sums, Index pitch, bool last) {
    for (Index key = keys.begin; key < keys.end; ++key, sums += pitch) {
      const StoredRow at = places_.key(b, key);
      State& state = states_[slot_of(at, key)];
      if (state == State::empty)
        std::copy_n(sums, columns_, row(at, key));
      else
        add_row(sums, columns_, row(at, key));
      state = State::summed;
      if (last) write(at, key);
    }
  }

  /// Writes every slot that holds a key, and no other.
  void write(const KeySlots& slots) {
    for (const Index b : slots.members)
      for (Index key = 0; key < problem_.key_length(b); ++key) write(places_.key(b, key), key);
  }

 private:
  enum class State : std::uint8_t { empty, summed, written };

  std::size_t slot_of(const StoredRow& at, Index key) const {
    return static_cast<std::size_t>(paged_ ? at.b * problem_.kv.page_size + at.row : key);
  }
  Real* row(const StoredRow& at, Index key) const {
    if (!in_place_) return sums_ + static_cast<Index>(slot_of(at, key)) * columns_;
    auto* const first = static_cast<std::byte*>(to_.data);
    return reinterpret_cast<Real*>(first + row_offset(to_, {at.b, kv_head_, at.row}));
  }
  void write(const StoredRow& at, Index key) {
    State& state = states_[slot_of(at, key)];
    if (state == State::written) return;
    if (state == State::empty) std::fill_n(row(at, key), columns_, Real(0));
    state = State::written;
    finish_row(row(at, key), columns_, scale_);
    if (!in_place_) store_row(to_, {at.b, kv_head_, at.row}, row(at, key));
  }

  const Problem& problem_;
  StoredPlaces places_;
  TensorRef to_;
  Index columns_;
  Real scale_;
  AlignedBuffer<Real>& memory_;
  bool in_place_;
  bool paged_;
  Index kv_head_ = 0;
  Real* sums_ = nullptr;
  std::vector<State> states_;  ///< of slots
};

/// dbias and dsink, which are stored in the compute type: they are added up where they lie.
template <class Real>
class ScoreGradient {
 public:
  ScoreGradient(const Problem& problem, const BackwardViews& views) : problem_(problem) {
    if (problem.backward->dbias) dbias_ = views.dbias.as<Real>();
    if (problem.backward->dsink) dsink_ = views.dsink.as<Real>();
  }

  /// Once a call, before anything is added.
  void clear() const {
    if (has_bias()) clear(dbias_);
    if (has_sink()) clear(dsink_);
  }

  bool has_bias() const { return dbias_.data != nullptr; }
  bool has_sink() const { return dsink_.data != nullptr; }
  void add_bias(const RowIndex& row, const KeyRange& keys, const Real* gradients) const {
    const auto [b, h, query] = bias_place(*problem_.bias, row);
    Real* const to = &dbias_(b, h, query, keys.begin);
    const Index step = dbias_.strides[3];
    for (Index key = 0; key < keys.end - keys.begin; ++key) to[key * step] += gradients[key];
  }
  void add_sink(const RowIndex& row, Real gradient) const { dsink_(0, row.head, 0, 0) += gradient; }

 private:
  static void clear(const TensorView<Real>& view) {
    for (Index b = 0; b < view.extents[0]; ++b)
      for (Index h = 0; h < view.extents[1]; ++h)
        for (Index row = 0; row < view.extents[2]; ++row)
          for (Index column = 0; column < view.extents[3]; ++column) view(b, h, row, column) = 0;
  }

  const Problem& problem_;
  TensorView<Real> dbias_, dsink_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
