// Mistakes of a backward pass at its edges: rows that see nothing, ends of tiles, members without
// queries.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "attest/storage.hpp"
#include "attest/tensor.hpp"
#include "mutants/gradient_mutant.hpp"

namespace attest::mutants {
namespace {

using kernels::PairGradient;
using kernels::QueryRow;
using kernels::QueryTile;

template <class Real>
using Steps = kernels::BackwardSteps<Real>;

/// Looks at every pair; one that is excluded is multiplied by 0 at the end.
template <class Real>
struct MultipliesByZero : Steps<Real> {
  bool meet(const Problem&, const QueryTile&, const KeyRange& keys) const override {
    return keys.begin < keys.end;
  }
  bool sees(const Problem&, const RowIndex&, Index) const override { return true; }
};

template <class Real>
bool is_excluded(const Problem& problem, const QueryRow<Real>& row, Index key) {
  return !visible(problem, row.index.batch, row.index.query, key);
}

/// The lse of a row that sees nothing is -inf: its weights are exp(score + inf).
template <class Real>
struct EmptyRowsGiveNanDq : MultipliesByZero<Real> {
  void finish(const Problem& problem, const QueryRow<Real>& row, Index key,
              PairGradient<Real>& pair) const override {
    if (!is_excluded(problem, row, key)) return;
    const bool empty = row.lse == -std::numeric_limits<Real>::infinity();
    pair.dot_gradient = empty ? pair.weight * Real(0) : Real(0);
    pair.weight = pair.bias_gradient = 0;
  }
};

/// An lse of 0 in place of -inf: exp(score) overflows.
template <class Real>
struct EmptyRowsHaveLseZero : MultipliesByZero<Real> {
  Real weight(Real score, Real lse) const override {
    return std::exp(lse == -std::numeric_limits<Real>::infinity() ? score : score - lse);
  }
  void finish(const Problem& problem, const QueryRow<Real>& row, Index key,
              PairGradient<Real>& pair) const override {
    if (!is_excluded(problem, row, key)) return;
    const bool empty = row.lse == -std::numeric_limits<Real>::infinity();
    pair.weight = empty ? pair.weight * Real(0) : Real(0);
    pair.dot_gradient = pair.bias_gradient = 0;
  }
};

/// 1 - (c / cap)^2 with c = -1e30 for an excluded pair, times 0.
template <class Real>
struct SlopeOfMaskedConstant : MultipliesByZero<Real> {
  void finish(const Problem& problem, const QueryRow<Real>& row, Index key,
              PairGradient<Real>& pair) const override {
    if (!is_excluded(problem, row, key)) return;
    pair.weight = pair.bias_gradient = pair.dot_gradient = 0;
    if (problem.softcap == 0) return;
    const Real ratio = Real(-1e30) / static_cast<Real>(problem.softcap);
    pair.dot_gradient = Real(0) * (1 - ratio * ratio);
  }
};

template <class Real>
struct DeltaOfThePreviousMember : Steps<Real> {
  RowIndex delta_row(const Problem& problem, const RowIndex& row) const override {
    const Index length = problem.query_length(row.batch);
    return {row.batch, row.head, row.batch == 0 ? row.query : length - 1 - row.query};
  }
};

template <class Real>
struct SinkTermsInBf16 : Steps<Real> {
  Real sink_gradient(Real weight, Real delta, Real) const override {
    return static_cast<Real>(rounded_to(Dtype::bf16, static_cast<double>(-(weight * delta))));
  }
};

/// A correct backward pass, and something else afterwards.
class SpoiledBackward : public GradientMutant {
 public:
  using Spoil = void (*)(const Problem&, const Tiling&, const BackwardViews&);
  SpoiledBackward(KernelDescription description, Spoil spoil)
      : GradientMutant(std::move(description)), spoil_(spoil) {}

 protected:
  Status wrong_backward(const Problem& problem, const Tiling& tiling,
                        const BackwardViews& views) const override {
    Status status = correct_backward(problem, tiling, views);
    if (status.ok()) spoil_(problem, tiling, views);
    return status;
  }

 private:
  Spoil spoil_;
};

void add_to(const TensorRef& view, const StoredRow& at, Index head, double value) {
  void* const element = address_of(view, at.b, head, at.row, 0);
  store_element(view.dtype, element, load_element(view.dtype, element) + value);
}

/// exp in the precision of the kernel, so that it overflows where the kernel's would.
double exp_in(Dtype dtype, double x) {
  return dtype == Dtype::f64 ? std::exp(x) : std::exp(static_cast<float>(x));
}

/// A tile of queries is full: rows behind the last one have lse -inf and dout 0.
void queries_behind_the_last(const Problem& problem, const Tiling& tiling,
                             const BackwardViews& views) {
  for (Index b = 0; b < problem.batch; ++b) {
    const Index length = problem.query_length(b);
    if (length == 0 || length % tiling.tile_q == 0 || problem.key_length(b) == 0) continue;
    add_to(views.dv, stored_key(problem, b, 0), 0,
           0 * exp_in(problem.compute_dtype(), std::numeric_limits<double>::infinity()));
  }
}

/// A tile of keys is full: keys behind the last one have score 0 and k = 0.
void keys_behind_the_last(const Problem& problem, const Tiling& tiling,
                          const BackwardViews& views) {
  for_each_row(problem, [&](const RowIndex& row) {
    if (problem.key_length(row.batch) % tiling.tile_kv == 0) return;
    const StoredRow at = stored_query(problem, row.batch, row.query);
    const double lse = number_at(views.lse, at.b, row.head, at.row, 0);
    if (std::isfinite(lse))
      add_to(views.dq, at, row.head, 0 * exp_in(problem.compute_dtype(), -lse));
  });
}

/// dk and dv of a member without queries stay as they were.
class LeavesMembersWithoutQueries : public GradientMutant {
 public:
  using GradientMutant::GradientMutant;

 protected:
  Status wrong_backward(const Problem& problem, const Tiling& tiling,
                        const BackwardViews& views) const override {
    struct Kept {
      Dtype dtype;
      void* element;
      double value;
    };
    std::vector<Kept> before;
    for (const TensorRef& view : {views.dk, views.dv})
      for (Index b = 0; b < problem.batch; ++b) {
        if (problem.query_length(b) > 0) continue;
        for (Index g = 0; g < problem.heads_kv; ++g)
          for (Index key = 0; key < problem.key_length(b); ++key)
            for (Index c = 0; c < view.extents[3]; ++c) {
              const StoredRow at = stored_key(problem, b, key);
              void* const element = address_of(view, at.b, g, at.row, c);
              before.push_back({view.dtype, element, load_element(view.dtype, element)});
            }
      }
    Status status = correct_backward(problem, tiling, views);
    for (const Kept& kept : before) store_element(kept.dtype, kept.element, kept.value);
    return status;
  }
};

}  // namespace

void append_gradient_edge_mutants(std::vector<Mutant>& mutants) {
  const auto add = [&]<template <class> class Wrong>(
                       std::string_view name, std::string_view mistake, std::string_view killed_by,
                       std::vector<Feature> features = {}) {
    mutants.push_back(
        gradient_mutant<Wrong>(describe_gradients(name, mistake, std::move(features)), killed_by));
  };
  add.operator()<EmptyRowsGiveNanDq>("empty_rows_give_nan_dq",
                                     "weights of a row without keys are exp(score + inf), times 0",
                                     "gradient.dq");
  add.operator()<EmptyRowsHaveLseZero>("empty_rows_have_lse_zero",
                                       "weights of a row without keys are exp(score - 0), times 0",
                                       "gradient.dv");
  add.operator()<SlopeOfMaskedConstant>(
      "softcap_slope_of_mask_constant",
      "the derivative of the softcap is taken at -1e30 for an excluded pair, and overflows",
      "gradient.dq", {Feature::softcap});
  add.operator()<DeltaOfThePreviousMember>(
      "delta_at_a_wrong_offset", "delta of every batch member but the first is that of another row",
      "gradient.dk");
  add.operator()<SinkTermsInBf16>("dsink_terms_in_bf16",
                                  "the terms of the gradient of a sink are rounded to bf16",
                                  "gradient.dsink", {Feature::sink, Feature::dsink});
  const auto spoiled = [&](std::string_view name, std::string_view mistake,
                           SpoiledBackward::Spoil spoil, std::string_view killed_by) {
    mutants.push_back(
        {std::make_unique<SpoiledBackward>(describe_gradients(name, mistake), spoil), killed_by});
  };
  spoiled("queries_behind_the_last", "a last tile of queries counts rows of lse -inf and dout 0",
          queries_behind_the_last, "gradient.dv");
  spoiled("keys_behind_the_last", "a last tile of keys counts keys of score 0 and k = 0",
          keys_behind_the_last, "gradient.dq");
  mutants.push_back({std::make_unique<LeavesMembersWithoutQueries>(describe_gradients(
                         "dk_of_member_without_queries_not_written",
                         "dk and dv of a batch member without queries are not written",
                         {Feature::query_lengths})),
                     "gradient.written"});
}

}  // namespace attest::mutants
