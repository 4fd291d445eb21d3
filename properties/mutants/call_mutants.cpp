// Mistakes around a correct kernel: heads, batch members, strides, memory and repeats.
#include <cstdint>

#include "kernels/kernels.hpp"
#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {
namespace {

/// Calls a correct kernel and does something wrong before or after.
class WrappedKernel : public Kernel {
 public:
  WrappedKernel(std::string_view name, std::string_view mistake)
      : description_(describe(name, mistake)) {}

  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return kernel_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    return run(problem, tiling, views);
  }

 protected:
  virtual Status run(const Problem& problem, const Tiling& tiling,
                     const ForwardViews& views) const = 0;
  const Kernel& correct() const { return *kernel_; }

 private:
  KernelDescription description_;
  std::unique_ptr<Kernel> kernel_ = kernels::make_scalar_tree();
};

void* shifted(void* data, Dtype dtype, Index elements) {
  return static_cast<std::byte*>(data) + elements * static_cast<Index>(size_of(dtype));
}
const void* shifted(const void* data, Dtype dtype, Index elements) {
  return static_cast<const std::byte*>(data) + elements * static_cast<Index>(size_of(dtype));
}

/// One index of an axis as a view of its own.
template <class Void>
ErasedTensorView<Void> at_index(ErasedTensorView<Void> view, std::size_t axis, Index index) {
  view.data = shifted(view.data, view.dtype, index * view.strides[axis]);
  view.extents[axis] = 1;
  return view;
}

class HeadMapModulo : public WrappedKernel {
 public:
  using WrappedKernel::WrappedKernel;
  Status run(const Problem& problem, const Tiling& tiling,
             const ForwardViews& views) const override {
    Problem one_head = problem;
    one_head.heads_q = one_head.heads_kv = 1;
    for (Index h = 0; h < problem.heads_q; ++h) {
      const Index kv_head = h % problem.heads_kv;
      ForwardViews of_head{at_index(views.q, 1, h),
                           at_index(views.k, 1, kv_head),
                           at_index(views.v, 1, kv_head),
                           at_index(views.out, 1, h),
                           {}};
      if (problem.lse != LseForm::none) of_head.lse = at_index(views.lse, 1, h);
      if (Status status = correct().forward(one_head, tiling, of_head); !status.ok()) return status;
    }
    return {};
  }
};

class ReadsKeysOfLastMember : public WrappedKernel {
 public:
  using WrappedKernel::WrappedKernel;
  Status run(const Problem& problem, const Tiling& tiling,
             const ForwardViews& views) const override {
    ForwardViews changed = views;
    // The last member's keys stand for every member: stride 0 along the batch.
    if (problem.batch > 0)
      changed.k.data =
          shifted(views.k.data, views.k.dtype, (problem.batch - 1) * views.k.strides[0]);
    changed.k.strides[0] = 0;
    return correct().forward(problem, tiling, changed);
  }
};

/// As if offsets were computed in 32 bits.
class OffsetsOf32Bits : public WrappedKernel {
 public:
  using WrappedKernel::WrappedKernel;
  Status run(const Problem& problem, const Tiling& tiling,
             const ForwardViews& views) const override {
    ForwardViews changed = views;
    for (Index& stride : changed.k.strides)
      stride = static_cast<Index>(static_cast<std::uint32_t>(stride));
    return correct().forward(problem, tiling, changed);
  }
};

class IgnoresColumnStride : public WrappedKernel {
 public:
  using WrappedKernel::WrappedKernel;
  Status run(const Problem& problem, const Tiling& tiling,
             const ForwardViews& views) const override {
    ForwardViews changed = views;
    changed.v.strides[3] = 1;
    return correct().forward(problem, tiling, changed);
  }
};

class AccumulatorNotCleared : public WrappedKernel {
 public:
  using WrappedKernel::WrappedKernel;
  Status run(const Problem& problem, const Tiling& tiling,
             const ForwardViews& views) const override {
    Status status = correct().forward(problem, tiling, views);
    if (!status.ok()) return status;
    with_real_type(problem.dtype, [&](auto real) {
      const auto out = views.out.as<decltype(real)>();
      for (Index b = 0; b < problem.batch; ++b)
        for (Index h = 0; h < problem.heads_q; ++h)
          for (Index query = 1; query < problem.seq_q; ++query)
            for (Index c = 0; c < problem.head_dim_v; ++c)
              out(b, h, query, c) += out(b, h, query - 1, c);
    });
    return status;
  }
};

class ChangesAnInput : public WrappedKernel {
 public:
  using WrappedKernel::WrappedKernel;
  Status run(const Problem& problem, const Tiling& tiling,
             const ForwardViews& views) const override {
    Status status = correct().forward(problem, tiling, views);
    if (problem.rows() == 0) return status;
    with_real_type(problem.dtype, [&](auto real) {
      using Real = decltype(real);
      // Scaled in place, as a kernel does that reuses its input as scratch.
      const_cast<Real&>(views.q.as<const Real>()(0, 0, 0, 0)) += Real(1);
    });
    return status;
  }
};

class WritesBehindTheRow : public WrappedKernel {
 public:
  using WrappedKernel::WrappedKernel;
  Status run(const Problem& problem, const Tiling& tiling,
             const ForwardViews& views) const override {
    Status status = correct().forward(problem, tiling, views);
    const TensorRef& out = views.out;
    // Only into a gap between rows, so that the mutant itself never leaves the buffer.
    const bool has_gap = out.strides[2] > out.extents[3] * out.strides[3];
    if (!status.ok() || !has_gap || problem.rows() == 0) return status;
    with_real_type(problem.dtype,
                   [&](auto real) { out.as<decltype(real)>()(0, 0, 0, out.extents[3]) = 0; });
    return status;
  }
};

class OrderDependsOnCall : public WrappedKernel {
 public:
  using WrappedKernel::WrappedKernel;
  Status run(const Problem& problem, const Tiling& tiling,
             const ForwardViews& views) const override {
    // Per thread, so that two laws at work at once do not hide each other's change of order.
    thread_local std::uint64_t calls = 0;
    Tiling changed = tiling;
    if (changed.merge.kind != MergeOrder::Kind::explicit_tree)
      changed.merge = {calls++ % 2 == 0 ? MergeOrder::Kind::left : MergeOrder::Kind::right, 0, {}};
    return correct().forward(problem, changed, views);
  }
};

class NeverRejects : public WrappedKernel {
 public:
  using WrappedKernel::WrappedKernel;
  Status run(const Problem& problem, const Tiling& tiling,
             const ForwardViews& views) const override {
    Problem accepting = problem;
    accepting.all_masked = AllMaskedPolicy::zero;
    return correct().forward(accepting, tiling, views);
  }
};

class ForgetsTheScale : public WrappedKernel {
 public:
  using WrappedKernel::WrappedKernel;
  Status run(const Problem& problem, const Tiling& tiling,
             const ForwardViews& views) const override {
    Problem unscaled = problem;
    unscaled.scale = {false, 1.0};
    return correct().forward(unscaled, tiling, views);
  }
};

template <class Wrapper>
Mutant wrapped(std::string_view name, std::string_view mistake, std::string_view killed_by) {
  return {std::make_unique<Wrapper>(name, mistake), killed_by};
}

}  // namespace

void append_call_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(wrapped<HeadMapModulo>(
      "head_map_modulo", "query head h reads key/value head h mod heads_kv", "bound.out"));
  mutants.push_back(wrapped<ReadsKeysOfLastMember>(
      "reads_keys_of_last_member", "every batch member reads the keys of the last one",
      "symmetry.head_independence"));
  mutants.push_back(wrapped<IgnoresColumnStride>(
      "ignores_column_stride", "the columns of v are taken as adjacent", "contract.strides"));
  mutants.push_back(wrapped<OffsetsOf32Bits>(
      "offsets_of_32_bits", "the strides of k are taken modulo 2^32", "contract.wide_strides"));
  mutants.push_back(wrapped<AccumulatorNotCleared>(
      "accumulator_not_cleared", "a row starts with the result of the row before it",
      "symmetry.row_independence"));
  mutants.push_back(wrapped<ChangesAnInput>("changes_an_input", "q is used as scratch memory",
                                            "contract.inputs_untouched"));
  mutants.push_back(wrapped<WritesBehindTheRow>("writes_behind_the_row",
                                                "one element after the first output row is written",
                                                "contract.outputs_written"));
  mutants.push_back(wrapped<OrderDependsOnCall>("order_depends_on_call",
                                                "tiles are merged in another order at every call",
                                                "contract.repeat_bits"));
  mutants.push_back(wrapped<NeverRejects>(
      "never_rejects", "policy reject gives zeros instead of an error", "empty.reject"));
  mutants.push_back(wrapped<ForgetsTheScale>(
      "forgets_the_scale", "scores are not multiplied by the scale", "bound.lse"));
}

}  // namespace attest::mutants
