// Test helper: dumps as a user would write them, made by a kernel of ours.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/inputs.hpp"
#include "properties/run_kernel.hpp"
#include "tensors/safetensors.hpp"
#include "tensors/test_npy.hpp"

namespace attest::cli {

/// A call of a kernel with its results, as logical tensors.
struct CallToDump {
  properties::Case value;
  properties::GradientOutputs outputs;  ///< `forward` too, in the form that the case asks for

  CallToDump(const std::string& line, const std::string& kernel)
      : value(parse_given(line, nullptr).value().value) {
    const Kernel& of = *find_kernel(kernel).value();
    if (value.problem.backward) outputs = properties::run_backward(of, value);
    outputs.forward = properties::run_kernel(of, value);
    EXPECT_TRUE(outputs.forward.status.ok()) << outputs.forward.status.message();
  }

  Tensor& out() { return outputs.forward.out; }
  Tensor& lse() { return outputs.forward.lse; }

  /// Everything that there is under the names of a dump, in the storage of the problem.
  std::vector<std::pair<std::string, Tensor>> tensors() const {
    const Problem& problem = value.problem;
    std::vector<std::pair<std::string, Tensor>> all;
    const auto add = [&](std::string_view name, const Tensor& tensor, auto&& pack) {
      if (!tensor.bytes().empty()) all.emplace_back(name, pack(problem, tensor));
    };
    const auto as_it_is = [](const Problem&, const Tensor& tensor) { return tensor; };
    using properties::pack_keys;
    using properties::pack_rows;
    add("q", value.q, pack_rows);
    add("k", value.k, pack_keys);
    if (!problem.v_is_k_view) add("v", value.v, pack_keys);
    add("bias", value.bias, as_it_is);
    add("sink", value.sink, as_it_is);
    add("qv", value.qv, pack_rows);
    add("dout", value.dout, pack_rows);
    add("dlse", value.dlse, pack_rows);
    add("out", outputs.forward.out, pack_rows);
    add("lse", outputs.forward.lse, pack_rows);
    add("dq", outputs.dq, pack_rows);
    add("dk", outputs.dk, pack_keys);
    add("dv", outputs.dv, pack_keys);
    add("dbias", outputs.dbias, as_it_is);
    add("dsink", outputs.dsink, as_it_is);
    return all;
  }
};

/// An array of rows, slowest axis first, from (b, h, row, column).
inline std::pair<std::vector<Index>, std::vector<std::byte>> array_of(
    const Tensor& tensor, const std::array<std::size_t, 4>& order) {
  std::vector<Index> shape;
  for (const std::size_t axis : order) shape.push_back(tensor.extents()[axis]);
  std::vector<std::byte> bytes;
  for_each_index({shape[0], shape[1], shape[2], shape[3]}, [&](Index first, Index second,
                                                               Index third, Index fourth) {
    std::array<Index, 4> at{};
    const std::array<Index, 4> index{first, second, third, fourth};
    for (std::size_t axis = 0; axis < 4; ++axis) at[order[axis]] = index[axis];
    const auto* const element =
        static_cast<const std::byte*>(address_of(tensor.ref(), at[0], at[1], at[2], at[3]));
    bytes.insert(bytes.end(), element, element + size_of(tensor.dtype()));
  });
  return {std::move(shape), std::move(bytes)};
}

/// The axes of an array of this name: rows of columns by layout, numbers of rows by head.
inline std::array<std::size_t, 4> axes_of(const std::string& name, Layout::Order layout) {
  const bool by_head = name == "lse" || name == "dlse" || name == "bias" || name == "dbias";
  if (name == "sink" || name == "dsink") return {0, 2, 3, 1};
  if (by_head || layout == Layout::Order::bhsd) return {0, 1, 2, 3};
  if (layout == Layout::Order::sbhd) return {2, 0, 1, 3};
  return {0, 2, 1, 3};
}

/// With the problem in the metadata unless it is empty.
inline tensors::SafetensorsFile safetensors_of(const CallToDump& call, const std::string& problem) {
  tensors::SafetensorsFile file;
  if (!problem.empty()) file.metadata["problem"] = problem;
  for (const auto& [name, tensor] : call.tensors()) {
    auto [shape, bytes] = array_of(tensor, axes_of(name, call.value.problem.layout.order));
    if (name == "lse" && shape.back() == 1) shape.pop_back();  // as most kernels give it
    file.entries.push_back({name, tensor.dtype(), std::move(shape), std::move(bytes)});
  }
  return file;
}

/// One array as numpy writes it; bf16 as uint16.
inline std::string npy_of(const std::string& name, const Tensor& tensor, Layout::Order layout) {
  const auto [shape, bytes] = array_of(tensor, axes_of(name, layout));
  std::string tuple = "(";
  for (const Index extent : shape) tuple += std::to_string(extent) + ", ";
  const char* const descr = tensor.dtype() == Dtype::f64   ? "<f8"
                            : tensor.dtype() == Dtype::f32 ? "<f4"
                            : tensor.dtype() == Dtype::f16 ? "<f2"
                            : size_of(tensor.dtype()) == 2 ? "<u2"
                                                           : "|u1";
  return tensors::npy_text(tensors::npy_dict(descr, tuple + ")"),
                           {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace attest::cli
