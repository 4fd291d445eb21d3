// A correct kernel that knows every answer for a row without keys: scalar_tree beside it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "attest/element.hpp"
#include "kernels/kernels.hpp"

namespace attest::properties {

class EveryEmptyRow : public Kernel {
 public:
  EveryEmptyRow() : description_(scalar_->description()) {
    description_.name = "test:every_empty_row";
    description_.capabilities.features.assign(all_features().begin(), all_features().end());
  }

  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return scalar_->accuracy(problem);
  }
  DeclaredGradientAccuracy gradient_accuracy(const Problem& problem) const override {
    return scalar_->gradient_accuracy(problem);
  }
  const SummaryOps<float>* summary_ops_f32() const override { return scalar_->summary_ops_f32(); }
  const SummaryOps<double>* summary_ops_f64() const override { return scalar_->summary_ops_f64(); }

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    if (Status status = scalar_->forward(plain(problem), tiling, views); !status.ok())
      return status;
    Tensor means;
    if (problem.all_masked == AllMaskedPolicy::mean) {
      means = Tensor(problem.out_dtype(), stored_q_extents(problem, problem.head_dim_v));
      if (Status status = mean_rows(problem, tiling, views, means.ref()); !status.ok())
        return status;
    }
    if (problem.sink) return {};
    for (Index b = 0; b < problem.batch; ++b)
      for (Index query = 0; query < problem.query_length(b); ++query)
        if (classify(problem, b, query, query + 1, 0, problem.seq_kv) == TileClass::empty)
          write_empty(problem, views, stored_query(problem, b, query), means);
    return {};
  }
  Status backward(const Problem& problem, const Tiling& tiling,
                  const BackwardViews& views) const override {
    return scalar_->backward(plain(problem), tiling, views);
  }

 private:
  static Problem plain(Problem problem) {
    if (problem.all_masked != AllMaskedPolicy::reject) problem.all_masked = AllMaskedPolicy::zero;
    problem.empty_lse = -std::numeric_limits<double>::infinity();
    return problem;
  }

  /// Every row the mean of all values of its member: equal scores, out of q and k that are 0.
  Status mean_rows(const Problem& problem, const Tiling& tiling, const ForwardViews& views,
                   TensorRef out) const {
    Problem mean = plain(problem);
    mean.mask = {};
    mean.softcap = 0;
    mean.order = {};
    mean.bias.reset();
    mean.alibi.reset();
    mean.sink.reset();
    mean.qv = mean.v_is_k_view = false;
    mean.scale = {false, 1.0};
    mean.lse = LseForm::none;
    const double zero = 0;
    ForwardViews changed;
    changed.q = {&zero, views.q.dtype, views.q.extents, Strides{}};
    changed.k = {&zero, views.k.dtype, views.k.extents, Strides{}};
    changed.v = views.v;
    changed.out = out;
    return scalar_->forward(mean, tiling, changed);
  }

  static void write(const TensorRef& to, const StoredRow& at, Index h, Index column, double value) {
    const Index offset =
        at.b * to.strides[0] + h * to.strides[1] + at.row * to.strides[2] + column * to.strides[3];
    store_element(to.dtype,
                  static_cast<std::byte*>(to.data) + offset * static_cast<Index>(size_of(to.dtype)),
                  value);
  }

  /// What nobody looks at is another number at every call.
  static double number_of_no_meaning() {
    thread_local std::uint64_t calls = 0;
    return static_cast<double>(1 + calls++ % 5);
  }

  static double output(const Problem& problem, double mean) {
    switch (problem.all_masked) {
      case AllMaskedPolicy::nan:
        return std::numeric_limits<double>::quiet_NaN();
      case AllMaskedPolicy::mean:
        return mean;
      case AllMaskedPolicy::any:
        return number_of_no_meaning();
      default:
        return 0;
    }
  }

  static void write_empty(const Problem& problem, const ForwardViews& views, const StoredRow& at,
                          const Tensor& means) {
    for (Index h = 0; h < problem.heads_q; ++h) {
      for (Index c = 0; c < problem.head_dim_v; ++c) {
        const bool is_mean = problem.all_masked == AllMaskedPolicy::mean;
        write(views.out, at, h, c, output(problem, is_mean ? means.get(at.b, h, at.row, c) : 0));
      }
      if (problem.lse == LseForm::none) continue;
      const double lse = problem.empty_lse ? *problem.empty_lse : number_of_no_meaning();
      write(views.lse, at, h, 0, lse);
      if (problem.lse == LseForm::max_sum)
        write(views.lse, at, h, 1, problem.empty_lse ? 0 : number_of_no_meaning());
    }
  }

  std::unique_ptr<Kernel> scalar_ = kernels::make_scalar_tree();
  KernelDescription description_;
};

}  // namespace attest::properties
