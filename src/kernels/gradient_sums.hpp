// Where a backward pass adds gradients up, in the compute type, and writes them once.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "attest/kernel.hpp"
#include "kernels/backward_steps.hpp"
#include "kernels/score_terms.hpp"
#include "kernels/stored_places.hpp"

namespace attest::kernels {

/// sums += factor * row.
template <class Real>
void add_scaled(std::span<Real> sums, Real factor, std::span<const Real> row) {
  for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += factor * row[c];
}

/// Writes scale * sums.
template <class Real>
void write_scaled(const TensorRef& to, const RowPlace& at, std::span<Real> sums, Real scale) {
  for (Real& sum : sums) sum *= scale;
  write_row(to, at, std::span<const Real>(sums));
}

/// Rows of sums of one width.
template <class Real>
class SumRows {
 public:
  SumRows(Index rows, Index columns)
      : columns_(static_cast<std::size_t>(columns)),
        sums_(static_cast<std::size_t>(rows) * columns_) {}

  std::span<Real> row(Index at) {
    return std::span<Real>(sums_).subspan(static_cast<std::size_t>(at) * columns_, columns_);
  }
  void clear() { std::fill(sums_.begin(), sums_.end(), Real(0)); }

 private:
  std::size_t columns_;
  std::vector<Real> sums_;
};

/// dk and dv of one kv head, slot by slot: what members share is added up.
template <class Real>
class KeySums {
 public:
  explicit KeySums(const Problem& problem)
      : problem_(problem),
        places_(problem),
        slots_(stored_kv_extents(problem, 1)),
        dk_(slots_[0] * slots_[2], problem.head_dim),
        dv_(slots_[0] * slots_[2], problem.head_dim_v) {}

  void clear() {
    dk_.clear();
    dv_.clear();
  }
  std::span<Real> dk(Index b, Index key) { return dk_.row(slot(places_.key(b, key))); }
  std::span<Real> dv(Index b, Index key) { return dv_.row(slot(places_.key(b, key))); }

  /// Every slot that holds a key, and no other.
  void write(const BackwardViews& views, Index kv_head, Real scale) {
    std::vector<bool> written(static_cast<std::size_t>(slots_[0] * slots_[2]));
    for (Index b = 0; b < problem_.batch; ++b)
      for (Index key = 0; key < problem_.key_length(b); ++key) {
        const StoredRow at = places_.key(b, key);
        if (written[static_cast<std::size_t>(slot(at))]) continue;
        written[static_cast<std::size_t>(slot(at))] = true;
        write_scaled(views.dk, {at.b, kv_head, at.row}, dk_.row(slot(at)), scale);
        write_scaled(views.dv, {at.b, kv_head, at.row}, dv_.row(slot(at)), Real(1));
      }
  }

 private:
  Index slot(const StoredRow& at) const { return at.b * slots_[2] + at.row; }

  const Problem& problem_;
  StoredPlaces places_;
  Extents slots_;
  SumRows<Real> dk_, dv_;
};

/// dbias and dsink, which are stored in the compute type: they are added up where they lie.
template <class Real>
class ScoreSums {
 public:
  ScoreSums(const BackwardSteps<Real>& steps, const Problem& problem, const BackwardViews& views)
      : steps_(steps), problem_(problem) {
    if (problem.backward->dbias) dbias_ = cleared(views.dbias);
    if (problem.backward->dsink) dsink_ = cleared(views.dsink);
  }

  bool has_sink() const { return dsink_.data != nullptr; }
  void add_bias(const RowIndex& row, Index key, Real gradient) const {
    if (dbias_.data == nullptr) return;
    const auto [b, h, query] = bias_place(*problem_.bias, row);
    steps_.add_bias(dbias_(b, h, query, key), gradient);
  }
  void add_sink(const RowIndex& row, Real gradient) const { dsink_(0, row.head, 0, 0) += gradient; }

 private:
  static TensorView<Real> cleared(const TensorRef& ref) {
    const TensorView<Real> view = ref.as<Real>();
    for (Index b = 0; b < view.extents[0]; ++b)
      for (Index h = 0; h < view.extents[1]; ++h)
        for (Index row = 0; row < view.extents[2]; ++row)
          for (Index column = 0; column < view.extents[3]; ++column) view(b, h, row, column) = 0;
    return view;
  }

  const BackwardSteps<Real>& steps_;
  const Problem& problem_;
  TensorView<Real> dbias_, dsink_;
};

/// Calls body(h) for the query heads that read a kv head.
template <class Body>
void for_each_head_of(const Problem& problem, Index kv_head, Body&& body) {
  const Index group = problem.heads_q / problem.heads_kv;
  for (Index h = kv_head * group; h < (kv_head + 1) * group; ++h) body(h);
}

}  // namespace attest::kernels
