// The bytes of an ONNX model with one node: MultiHeadAttention of com.microsoft.
#pragma once

#include <string>
#include <vector>

#include "attest/status.hpp"

namespace attest::bench {

struct OnnxTensor {
  std::string name;
  std::vector<Index> extents;
};

/// Inputs `query`, `key`, `value`, output `output`, all f32 (protobuf wire format, onnx.proto).
std::string attention_model(const std::vector<OnnxTensor>& inputs, const OnnxTensor& output,
                            Index heads, bool causal);

}  // namespace attest::bench
