// The bytes of an ONNX model with one node (protobuf wire format, onnx.proto).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "attest/status.hpp"

namespace attest::bench {

/// TensorProto.DataType
enum class OnnxType { f32 = 1, i32 = 6 };

struct OnnxTensor {
  std::string name;  ///< empty: an optional input that is left out
  std::vector<Index> extents;
  OnnxType type = OnnxType::f32;
};

/// A node of the operators of com.microsoft.
struct OnnxNode {
  std::string operation;
  std::vector<OnnxTensor> inputs;
  std::vector<OnnxTensor> outputs;
  std::vector<std::pair<std::string, Index>> attributes;
};

std::string model_of(const OnnxNode& node);

}  // namespace attest::bench
