// The definition, written down: three passes over a materialised row of scores. No tiles.
#include <cmath>

#include "kernels/kernels.hpp"
#include "kernels/row_access.hpp"

namespace attest::kernels {
namespace {

template <class Real>
class TextbookForward {
 public:
  TextbookForward(const Problem& problem, const ForwardViews& views)
      : problem_(problem),
        q_(views.q.as<const Real>()),
        k_(views.k.as<const Real>()),
        v_(views.v.as<const Real>()),
        out_(views.out.as<Real>()),
        lse_(views.lse.as<Real>()),
        scale_(static_cast<Real>(scale_value(problem))) {}

  void write_row(Index b, Index h, Index query) {
    const Real row_max = score_row(b, h, query);
    Real row_sum = 0;
    for (Real& weight : weights_) {
      weight = std::exp(weight - row_max);
      row_sum += weight;
    }
    for (Index c = 0; c < problem_.head_dim_v; ++c) {
      Real numerator = 0;
      for (std::size_t j = 0; j < keys_.size(); ++j)
        numerator += weights_[j] * v_(b, problem_.kv_head(h), keys_[j], c);
      out_(b, h, query, c) = keys_.empty() ? Real(0) : numerator / row_sum;
    }
    if (problem_.lse == LseForm::none) return;
    lse_(b, h, query, 0) = keys_.empty() ? row_max : row_max + std::log(row_sum);
  }

 private:
  /// First pass: the visible keys and their scores; returns the largest, -inf if there is none.
  Real score_row(Index b, Index h, Index query) {
    keys_.clear();
    weights_.clear();
    Real row_max = RowSummary<Real>::minus_infinity;
    const std::span<const Real> q = contiguous_row(q_, b, h, query, q_buffer_);
    for (Index key = 0; key < problem_.seq_kv; ++key) {
      if (!visible(problem_, b, query, key)) continue;
      const Real score =
          scaled_dot(q, contiguous_row(k_, b, problem_.kv_head(h), key, k_buffer_), scale_);
      if (score == RowSummary<Real>::minus_infinity) continue;
      keys_.push_back(key);
      weights_.push_back(score);
      if (!(score <= row_max)) row_max = score;
    }
    return row_max;
  }

  const Problem& problem_;
  TensorView<const Real> q_, k_, v_;
  TensorView<Real> out_, lse_;
  Real scale_;
  std::vector<Real> q_buffer_, k_buffer_;
  std::vector<Index> keys_;
  std::vector<Real> weights_;
};

class Textbook : public Kernel {
 public:
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return scalar_accuracy(problem, SummaryScope::row);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    if (Status status = reject_all_masked(problem); !status.ok()) return status;
    with_real_type(problem.dtype, [&](auto real) {
      TextbookForward<decltype(real)> pass(problem, views);
      for (Index b = 0; b < problem.batch; ++b)
        for (Index h = 0; h < problem.heads_q; ++h)
          for (Index query = 0; query < problem.seq_q; ++query) pass.write_row(b, h, query);
    });
    return {};
  }

 private:
  KernelDescription description_{
      "builtin:textbook",
      "1",
      "three passes over a materialised row of scores, no tiles",
      {.dtypes = {Dtype::f32, Dtype::f64}, .tiles = false, .kv_splits = false}};
};

}  // namespace

std::unique_ptr<Kernel> make_textbook() {
  return std::make_unique<Textbook>();
}

}  // namespace attest::kernels
