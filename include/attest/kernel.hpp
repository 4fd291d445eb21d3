// A kernel under test: an object with a name, capabilities, conventions and declared accuracy.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "attest/accuracy.hpp"
#include "attest/gradient_bound.hpp"
#include "attest/partial.hpp"
#include "attest/problem.hpp"
#include "attest/status.hpp"
#include "attest/summary.hpp"
#include "attest/tensor_view.hpp"
#include "attest/tiling.hpp"

namespace attest {

/// What a kernel means by the lse that it writes. A kernel that means something else than the
/// problem asks for says so here; such a call is then `unsupported` and not judged as an error.
struct Conventions {
  enum class LogBase { natural, two };
  enum class EmptyLse { minus_infinity, plus_infinity };

  LogBase lse_base = LogBase::natural;
  EmptyLse empty_lse = EmptyLse::minus_infinity;
};

/// Parts of a problem that not every kernel knows.
enum class Feature {
  window,
  keep_first,
  prefix,
  chunk,
  segments,
  block_mask,
  additive_mask,
  softcap,
  score_order,  ///< additions before softcap
  bias,
  alibi,
  sink,
  qv,
  v_is_k_view,
  descales,
  mixed_dtypes,  ///< q, k, v of different types
  out_dtype,     ///< out of another type than q
  query_lengths,
  left_padding,
  paged,
  packed_rows,  ///< Layout::Order::thd
  lse_base_two,
  lse_max_sum,
  empty_nan,
  empty_mean,
  empty_lse,  ///< any Problem::empty_lse; without it: the one of the conventions
  backward,   ///< dq, dk, dv
  dbias,
  dsink,
  dlse,
};

std::string_view to_string(Feature feature);
std::span<const Feature> all_features();
/// The features that a problem needs, in the order of the enumeration.
std::vector<Feature> features_of(const Problem& problem);

/// Whose bits, of out and lse, do not depend on how a call is cut.
enum class Reproducible {
  no,
  splits,     ///< not on splits at multiples of Capabilities::leaf, merge order and tile size
  any_order,  ///< nor on the order of the keys, which are added exactly or to a grid
};

/// What a kernel can do. A call outside of it is `unsupported`, which a check counts as skipped.
struct Capabilities {
  std::vector<Dtype> dtypes;
  bool lse = true;            ///< writes the lse when asked
  bool tiles = true;          ///< the result may depend on Tiling::tile_kv
  bool kv_splits = true;      ///< the result may depend on Tiling::splits and Tiling::merge
  bool grouped_heads = true;  ///< heads_kv < heads_q
  bool key_lengths = true;
  bool mask_bits = true;
  bool reject = true;  ///< offers AllMaskedPolicy::reject; `zero` is offered by every kernel
  Conventions conventions = {};
  Reproducible reproducible = Reproducible::no;
  Index leaf = 1;
  bool threads = false;  ///< works on the threads of attest/threads.hpp
  std::vector<Feature> features = {};

  bool has(Feature feature) const {
    return std::find(features.begin(), features.end(), feature) != features.end();
  }
};

struct KernelDescription {
  std::string name;  ///< with its origin: "builtin:scalar_tree"
  std::string version;
  std::string summary;  ///< one sentence: the algorithm
  Capabilities capabilities;
};

/// Tensors of one forward call, as attest/storage.hpp lays them out. out and lse are written
/// completely and nothing else is; what the problem does not have is null. Views may have any
/// strides.
struct ForwardViews {
  ConstTensorRef q;
  ConstTensorRef k;
  ConstTensorRef v;
  TensorRef out;
  TensorRef lse;
  ConstTensorRef bias = {};
  ConstTensorRef sink = {};
  ConstTensorRef qv = {};
};

/// Tensors of one backward call: the inputs and results of the forward call, what arrives at the
/// results, and the gradients to be written completely. dq, dk, dv have the types and the storage
/// of q, k, v; slots of k and v that hold no key get nothing. dbias and dsink have the extents of
/// bias and sink and the compute dtype.
struct BackwardViews {
  ConstTensorRef q;
  ConstTensorRef k;
  ConstTensorRef v;
  ConstTensorRef out;
  ConstTensorRef lse;  ///< natural
  ConstTensorRef dout;
  ConstTensorRef dlse = {};
  ConstTensorRef bias = {};
  ConstTensorRef sink = {};
  TensorRef dq = {};
  TensorRef dk = {};
  TensorRef dv = {};
  TensorRef dbias = {};
  TensorRef dsink = {};
};

/// How a kernel summarises a row, for kernels that show partial results. The defaults are the
/// monoid of attest/summary.hpp; a kernel overrides what it does in its own way.
template <class Real>
class SummaryOps {
 public:
  SummaryOps() = default;
  SummaryOps(const SummaryOps&) = delete;
  SummaryOps& operator=(const SummaryOps&) = delete;
  virtual ~SummaryOps() = default;

  virtual RowSummary<Real> identity(Index head_dim_v) const {
    return RowSummary<Real>::identity(head_dim_v);
  }
  virtual void absorb(RowSummary<Real>& summary, Real score, std::span<const Real> value) const {
    attest::absorb(summary, score, value);
  }
  virtual Real rescale(Real from, Real to) const { return attest::rescale(from, to); }
  virtual RowSummary<Real> merge(const RowSummary<Real>& left,
                                 const RowSummary<Real>& right) const {
    return attest::merge(left, right);
  }
  virtual NormalisedRow<Real> normalise(const RowSummary<Real>& summary) const {
    return attest::normalise(summary);
  }
  virtual NormalisedRow<Real> merge_normalised(const NormalisedRow<Real>& left,
                                               const NormalisedRow<Real>& right) const {
    return attest::merge(left, right);
  }

  /// The form of the parts (output, lse) that the kernel hands out and takes back.
  virtual PartForm part_form() const { return {}; }
  /// Joins two parts of that form; refuses what cannot be a part.
  virtual Result<NormalisedRow<Real>> join_parts(const NormalisedRow<Real>& left,
                                                 const NormalisedRow<Real>& right) const {
    return attest::join_parts(left, right, part_form(), [this](const auto& a, const auto& b) {
      return merge_normalised(a, b);
    });
  }
};

class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  virtual const KernelDescription& description() const = 0;

  /// True for every problem that the kernel supports.
  virtual DeclaredAccuracy accuracy(const Problem& problem) const = 0;

  /// A tiling that suits the kernel; a function of the problem alone.
  virtual Tiling preferred_tiling(const Problem&) const { return {}; }

  /// Computes out and lse. Checks the call with check_call first and never throws.
  virtual Status forward(const Problem& problem, const Tiling& tiling,
                         const ForwardViews& views) const = 0;

  /// True for every problem with Problem::backward that the kernel supports.
  virtual DeclaredGradientAccuracy gradient_accuracy(const Problem&) const { return {}; }

  /// Computes the gradients that problem.backward asks for. Checks the call with
  /// check_backward_call first and never throws.
  virtual Status backward(const Problem& problem, const Tiling& tiling,
                          const BackwardViews& views) const;

  /// Null when the kernel shows no partial results.
  virtual const SummaryOps<float>* summary_ops_f32() const { return nullptr; }
  virtual const SummaryOps<double>* summary_ops_f64() const { return nullptr; }
};

template <class Real>
const SummaryOps<Real>* summary_ops(const Kernel& kernel) {
  if constexpr (std::is_same_v<Real, float>)
    return kernel.summary_ops_f32();
  else
    return kernel.summary_ops_f64();
}

/// Whether the capabilities cover the problem; `unsupported` with the reason otherwise.
Status check_support(const Capabilities& capabilities, const Problem& problem);

/// Whether problem, tiling and views are valid and fit together. Every kernel calls it once.
Status check_call(const Capabilities& capabilities, const Problem& problem, const Tiling& tiling,
                  const ForwardViews& views);

Status check_backward_call(const Capabilities& capabilities, const Problem& problem,
                           const Tiling& tiling, const BackwardViews& views);

/// The status of AllMaskedPolicy::reject.
Status all_masked_row(const RowIndex& row);

}  // namespace attest
