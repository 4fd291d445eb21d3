// q, k, v and qv of one call, row by row, as numbers of the compute type.
#pragma once

#include <span>
#include <vector>

#include "attest/problem.hpp"
#include "kernels/stored_places.hpp"

namespace attest::kernels {

/// What the rows of a problem are read from.
struct InputTensors {
  ConstTensorRef q;
  ConstTensorRef k;
  ConstTensorRef v;
  ConstTensorRef qv = {};
};

/// Finds rows and applies descales, one rounding an element.
/// Nothing is read before it is asked for. A span is good until its buffer is used again.
template <class Real>
class InputRows {
 public:
  InputRows(const Problem& problem, const InputTensors& tensors)
      : problem_(problem), places_(problem), tensors_(tensors) {}

  /// The left side of the dot product: q, and qv behind it where there is one.
  std::span<const Real> query(const RowIndex& row, std::vector<Real>& buffer) const {
    const Real factor = descale(&Descales::q, row.batch, problem_.kv_head(row.head));
    const Part q{tensors_.q, factor};
    const RowPlace at = places_.query(row);
    if (!problem_.qv) return whole(q, at, buffer);
    return joined(q, {tensors_.qv, factor}, at, buffer);
  }
  /// The right side: k, and v behind it where there is a qv.
  std::span<const Real> key(Index b, Index kv_head, Index key, std::vector<Real>& buffer) const {
    const Part k{tensors_.k, descale(&Descales::k, b, kv_head)};
    const RowPlace at = place(places_.key(b, key), kv_head);
    if (!problem_.qv) return whole(k, at, buffer);
    return joined(k, {tensors_.v, descale(&Descales::v, b, kv_head)}, at, buffer);
  }
  std::span<const Real> value(Index b, Index kv_head, Index key, std::vector<Real>& buffer) const {
    return whole({tensors_.v, descale(&Descales::v, b, kv_head)},
                 place(places_.key(b, key), kv_head), buffer);
  }

 private:
  struct Part {
    const ConstTensorRef& tensor;
    Real factor;
  };

  static RowPlace place(const StoredRow& row, Index h) { return {row.b, h, row.row}; }

  Real descale(std::vector<double> Descales::*of, Index b, Index kv_head) const {
    if (!problem_.descales) return 1;
    const std::vector<double>& factors = *problem_.descales.*of;
    const Index at = factors.size() == 1 ? 0 : b * problem_.heads_kv + kv_head;
    return static_cast<Real>(factors[static_cast<std::size_t>(at)]);
  }

  static std::span<const Real> whole(const Part& part, const RowPlace& at,
                                     std::vector<Real>& buffer) {
    if (part.factor == 1) return read_row(part.tensor, at, buffer);
    buffer.clear();
    append(part, at, buffer);
    return buffer;
  }
  static std::span<const Real> joined(const Part& left, const Part& right, const RowPlace& at,
                                      std::vector<Real>& buffer) {
    buffer.clear();
    append(left, at, buffer);
    append(right, at, buffer);
    return buffer;
  }
  static void append(const Part& part, const RowPlace& at, std::vector<Real>& buffer) {
    const std::size_t begin = buffer.size();
    buffer.resize(begin + static_cast<std::size_t>(part.tensor.extents[3]));
    const std::span<Real> added = std::span<Real>(buffer).subspan(begin);
    convert_row(part.tensor, at, added);
    if (part.factor != 1)
      for (Real& element : added) element *= part.factor;
  }

  const Problem& problem_;
  StoredPlaces places_;
  InputTensors tensors_;
};

}  // namespace attest::kernels
