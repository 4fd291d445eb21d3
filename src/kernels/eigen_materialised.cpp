// A third, independent way: dense products of Eigen over the visible keys of a row.
#include <Eigen/Dense>
#include <algorithm>

#include "kernels/kernels.hpp"
#include "kernels/row_access.hpp"

namespace attest::kernels {
namespace {

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Real>
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
template <class Real>
using RowMap = Eigen::Map<const Vector<Real>, 0, Eigen::InnerStride<>>;

template <class Real>
RowMap<Real> map_row(const TensorView<const Real>& view, Index b, Index h, Index row) {
  return {&view(b, h, row, 0), view.extents[3], Eigen::InnerStride<>(view.strides[3])};
}

/// Rows of `view` at `keys` as one dense matrix; what excluded rows hold is never read.
template <class Real>
Matrix<Real> gather(const TensorView<const Real>& view, Index b, Index h,
                    const std::vector<Index>& keys) {
  Matrix<Real> rows(static_cast<Index>(keys.size()), view.extents[3]);
  for (std::size_t j = 0; j < keys.size(); ++j)
    rows.row(static_cast<Index>(j)) = map_row(view, b, h, keys[j]).transpose();
  return rows;
}

/// A score of -inf is an exclusion.
template <class Real>
void drop_excluded(std::vector<Index>& keys, Vector<Real>& scores) {
  std::size_t kept = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const Real score = scores[static_cast<Index>(j)];
    if (score == RowSummary<Real>::minus_infinity) continue;
    keys[kept] = keys[j];
    scores[static_cast<Index>(kept++)] = score;
  }
  keys.resize(kept);
  scores.conservativeResize(static_cast<Index>(kept));
}

template <class Real>
void write_row(const Problem& problem, const ForwardViews& views, const RowIndex& row) {
  const auto [b, h, query] = row;
  std::vector<Index> keys;
  for (Index key = 0; key < problem.seq_kv; ++key)
    if (visible(problem, b, query, key)) keys.push_back(key);

  const Index kv_head = problem.kv_head(h);
  const auto scale = static_cast<Real>(scale_value(problem));
  Vector<Real> output = Vector<Real>::Zero(problem.head_dim_v);
  Real lse = RowSummary<Real>::minus_infinity;
  Vector<Real> scores = gather(views.k.as<const Real>(), b, kv_head, keys) *
                        map_row(views.q.as<const Real>(), b, h, query) * scale;
  drop_excluded(keys, scores);
  if (!keys.empty()) {
    const Real row_max = scores.template maxCoeff<Eigen::PropagateNaN>();
    // std::exp on purpose: Eigen's vector exp has another error than the one declared.
    const Vector<Real> weights =
        scores.unaryExpr([row_max](Real score) { return std::exp(score - row_max); });
    const Real row_sum = weights.sum();
    output = gather(views.v.as<const Real>(), b, kv_head, keys).transpose() * weights;
    output /= row_sum;
    lse = row_max + std::log(row_sum);
  }
  const auto out = views.out.as<Real>();
  for (Index c = 0; c < problem.head_dim_v; ++c) out(b, h, query, c) = output[c];
  if (problem.lse != LseForm::none) views.lse.as<Real>()(b, h, query, 0) = lse;
}

class EigenMaterialised : public Kernel {
 public:
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    DeclaredAccuracy accuracy = scalar_accuracy(problem, SummaryScope::row);
    accuracy.ordered_sums = false;  // Eigen reduces in lanes and blocks
    return accuracy;
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    if (Status status = reject_all_masked(problem); !status.ok()) return status;
    for (Index b = 0; b < problem.batch; ++b)
      for (Index h = 0; h < problem.heads_q; ++h)
        for (Index query = 0; query < problem.seq_q; ++query)
          with_real_type(problem.dtype, [&](auto real) {
            write_row<decltype(real)>(problem, views, {b, h, query});
          });
    return {};
  }

 private:
  KernelDescription description_{
      "builtin:eigen_materialised",
      "1",
      "dense matrix products of Eigen over the visible keys",
      {.dtypes = {Dtype::f32, Dtype::f64}, .tiles = false, .kv_splits = false}};
};

}  // namespace

std::unique_ptr<Kernel> make_eigen_materialised() {
  return std::make_unique<EigenMaterialised>();
}

}  // namespace attest::kernels
