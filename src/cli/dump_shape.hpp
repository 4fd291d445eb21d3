// Arrays of a dump as tensors: which axis of an array is which index.
#pragma once

#include <array>
#include <vector>

#include "attest/problem_text.hpp"
#include "attest/tensor.hpp"
#include "cli/dump_files.hpp"

namespace attest::cli {

/// Places of batch, head, row and column in Extents, slowest axis of the array first. The last ones
/// may be left out by an array if their extent is 1, and so may the first ones.
using AxisOrder = std::array<std::size_t, 4>;

/// The order of arrays that are rows of columns in a layout.
AxisOrder row_order(Layout::Order layout);
/// Batch, head, row: what most kernels call the lse.
inline constexpr AxisOrder kHeadsFirst{0, 1, 2, 3};

/// What is expected of an array.
struct ExpectedTensor {
  Extents extents{};
  Dtype dtype = Dtype::f32;
  std::vector<AxisOrder> orders;  ///< the first one that fits decides
};

/// The array as a dense tensor of these extents and this type. StatusCode::invalid_argument, with
/// file and name, for a shape that fits no order or a number that the type does not have.
Result<Tensor> to_tensor(const DumpedTensor& array, const ExpectedTensor& expected);

/// Whether more than one of the orders fits, and they differ.
bool is_ambiguous(const DumpedTensor& array, const ExpectedTensor& expected);

}  // namespace attest::cli
