// The exact gradients of a case, kv head by kv head, with the bound of a kernel.
//
// Gradients are always certified by MPFR: there is no second oracle to ask near a bound.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "attest/kernel.hpp"
#include "properties/case.hpp"
#include "properties/run_kernel.hpp"
#include "properties/tally.hpp"
#include "reference/gradients.hpp"

namespace attest::properties {

/// One key/value head of one batch member, with all query rows that read it.
struct KvHead {
  Index b = 0;
  Index head = 0;
};

/// The rows that read a kv head, in the order of reference::read_gradient_inputs.
std::vector<RowIndex> rows_of(const Problem& problem, const KvHead& head);

/// A kv head of a case, chosen by its seed, some row of which sees a key, where there is one.
/// Precondition: the batch has members.
KvHead drawn_head(const Case& of);

/// The exact gradients of a case with the bound of one kernel.
class GradientTruth {
 public:
  /// Both arguments are kept by reference.
  GradientTruth(const Kernel& kernel, const Case& of);

  /// Nothing when an input that counts, or a gradient, is not finite.
  std::optional<reference::CertifiedGradients> head(const KvHead& head) const;

  /// The same for heads of members that have all keys in common: dk and dv are sums over all rows.
  std::optional<reference::CertifiedGradients> shared(std::span<const KvHead> heads) const;

  /// The bound under another tiling of the forward pass.
  GradientBound bound(const GradientFacts& facts, const KvHead& head, const Tiling& tiling) const;

  const DeclaredGradientAccuracy& accuracy() const { return accuracy_; }

 private:
  std::vector<RowBound> forward_bounds(const KvHead& head, const Tiling& tiling) const;

  const Kernel& kernel_;
  const Case& of_;
  DeclaredGradientAccuracy accuracy_;
};

/// The sizes of gradients before anything cancels: what a bound must be small against.
Gradients<double> magnitudes(const GradientFacts& facts);

/// Which gradient; the numbers are places in kGradientNames.
enum class GradientPart { dq, dk, dv };
inline constexpr std::array kGradientParts{GradientPart::dq, GradientPart::dk, GradientPart::dv};

/// A gradient has the type of its tensor.
Dtype gradient_dtype(const Problem& problem, GradientPart part);

const Tensor& tensor_of(const GradientOutputs& outputs, GradientPart part);

/// One element of dq, dk or dv of a kv head.
struct GradientElement {
  GradientPart part = GradientPart::dq;
  std::size_t at = 0;  ///< in the list of Gradients
  Place place;

  double of(const GradientOutputs& outputs) const {
    return tensor_of(outputs, part)
        .get(place.row.batch, place.row.head, place.row.query, place.column);
  }
  template <class Number>
  const Number& of(const Gradients<Number>& gradients) const {
    return (*gradients.lists()[static_cast<std::size_t>(part)])[at];
  }
};

/// Every element of a part, row by row; the row of a key is (batch, kv head, key).
std::vector<GradientElement> elements_of(const Problem& problem, const KvHead& head,
                                         GradientPart part);

}  // namespace attest::properties
