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

  /// Everything that there is under the names of a dump.
  std::vector<std::pair<std::string, const Tensor*>> tensors() const {
    std::vector<std::pair<std::string, const Tensor*>> all;
    for (const properties::CaseTensor& of : properties::case_tensors())
      all.emplace_back(of.name, &(value.*of.tensor));
    all.insert(all.end(), {{"out", &outputs.forward.out},
                           {"lse", &outputs.forward.lse},
                           {"dq", &outputs.dq},
                           {"dk", &outputs.dk},
                           {"dv", &outputs.dv},
                           {"dbias", &outputs.dbias},
                           {"dsink", &outputs.dsink}});
    std::erase_if(all, [](const auto& one) { return one.second->bytes().empty(); });
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

/// The axes of an array of this name: rows of columns in bshd or bhsd, numbers of rows by head.
inline std::array<std::size_t, 4> axes_of(const std::string& name, bool heads_first) {
  const bool always = name == "lse" || name == "dlse" || name == "bias" || name == "dbias";
  if (name == "sink" || name == "dsink") return {0, 2, 3, 1};
  return heads_first || always ? std::array<std::size_t, 4>{0, 1, 2, 3}
                               : std::array<std::size_t, 4>{0, 2, 1, 3};
}

/// In bshd, with the problem in the metadata unless it is empty.
inline tensors::SafetensorsFile safetensors_of(const CallToDump& call, const std::string& problem) {
  tensors::SafetensorsFile file;
  if (!problem.empty()) file.metadata["problem"] = problem;
  for (const auto& [name, tensor] : call.tensors()) {
    auto [shape, bytes] = array_of(*tensor, axes_of(name, false));
    if (name == "lse") shape.pop_back();  // (batch, head, row), as most kernels give it
    file.entries.push_back({name, tensor->dtype(), std::move(shape), std::move(bytes)});
  }
  return file;
}

/// One array as numpy writes it; bf16 as uint16.
inline std::string npy_of(const std::string& name, const Tensor& tensor, bool heads_first) {
  const auto [shape, bytes] = array_of(tensor, axes_of(name, heads_first));
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
