// Tells attest what the kernel can do and how it rounds, and hands its calls over.
#include <vector>

#include "kernel.hpp"

namespace mine {
namespace {

using Function = void (*)(const Shape&, const Tensors&);

/// A view with any strides, as the kernel wants its tensors.
std::vector<float> dense(const attest::ConstTensorRef& view) {
  const auto at = view.as<const float>();
  const auto [batch, heads, rows, columns] = view.extents;
  std::vector<float> numbers;
  for (Index b = 0; b < batch; ++b)
    for (Index row = 0; row < rows; ++row)
      for (Index h = 0; h < heads; ++h)
        for (Index c = 0; c < columns; ++c) numbers.push_back(at(b, h, row, c));
  return numbers;
}

void write(const std::vector<float>& numbers, const attest::TensorRef& view) {
  const auto at = view.as<float>();
  const auto [batch, heads, rows, columns] = view.extents;
  auto next = numbers.begin();
  for (Index b = 0; b < batch; ++b)
    for (Index row = 0; row < rows; ++row)
      for (Index h = 0; h < heads; ++h)
        for (Index c = 0; c < columns; ++c) at(b, h, row, c) = *next++;
}

class Mine : public attest::Kernel {
 public:
  Mine(const char* name, Function function) : function_(function) {
    description_.name = name;
    description_.version = "1";
    description_.summary = "online softmax, key by key";
    // Only what the kernel knows: f32, dense rows, causal masks. The rest is skipped, not guessed.
    attest::Capabilities& can = description_.capabilities;
    can.dtypes = {attest::Dtype::f32};
    can.tiles = can.kv_splits = can.grouped_heads = can.key_lengths = can.mask_bits = can.reject =
        false;
  }

  const attest::KernelDescription& description() const override { return description_; }

  /// The bound is derived from this: one rounding a term of a dot product and one of the scale, exp
  /// and log of glibc, keys in order, each with the maximum so far.
  attest::DeclaredAccuracy accuracy(const attest::Problem& problem) const override {
    attest::DeclaredAccuracy accuracy;
    const double u = accuracy.format.unit_roundoff;
    accuracy.dot_roundings = problem.head_dim + 1;
    accuracy.exp_relative_error = 2 * u;
    accuracy.exp_absolute_error = 2 * accuracy.format.rounding_underflow;
    accuracy.log_relative_error = 2 * u;
    accuracy.scope = attest::SummaryScope::split;
    accuracy.own_tiling = attest::Tiling{1, 1, {}, {}};
    return accuracy;
  }

  attest::Status forward(const attest::Problem& problem, const attest::Tiling& tiling,
                         const attest::ForwardViews& views) const override {
    if (attest::Status status = check_call(description_.capabilities, problem, tiling, views);
        !status.ok())
      return status;
    const Shape shape{problem.batch,    problem.seq_q,
                      problem.seq_kv,   problem.heads_q,
                      problem.head_dim, problem.head_dim_v,
                      offset(problem),  static_cast<float>(scale_value(problem))};
    const std::vector<float> q = dense(views.q);
    const std::vector<float> k = dense(views.k);
    const std::vector<float> v = dense(views.v);
    std::vector<float> out(static_cast<std::size_t>(problem.rows() * problem.head_dim_v));
    std::vector<float> lse(static_cast<std::size_t>(problem.rows()));
    function_(shape, {q.data(), k.data(), v.data(), out.data(), lse.data()});
    write(out, views.out);
    if (views.lse.data != nullptr) write(lse, views.lse);
    return {};
  }

 private:
  static Index offset(const attest::Problem& problem) {
    return problem.mask.causal ? causal_offset(problem, 0) : problem.seq_kv;
  }

  Function function_;
  attest::KernelDescription description_;
};

}  // namespace

std::unique_ptr<attest::Kernel> make_kernel() {
  return std::make_unique<Mine>("mine:online", attention);
}

std::unique_ptr<attest::Kernel> make_wrong_kernel() {
  return std::make_unique<Mine>("mine:wrong", wrong_attention);
}

}  // namespace mine
