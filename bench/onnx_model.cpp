#include "bench/onnx_model.hpp"

#include <cstdint>
#include <initializer_list>

namespace attest::bench {
namespace {

/// A protobuf message under construction: fields in any order, a number or bytes each.
class Message {
 public:
  Message& number(unsigned field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& bytes(unsigned field, const std::string& value) {
    varint(field << 3 | 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  Message& message(unsigned field, const Message& value) { return bytes(field, value.text_); }
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

constexpr std::uint64_t kIntAttribute = 2;  // AttributeProto.AttributeType

/// ValueInfoProto
Message value_info(const OnnxTensor& tensor) {
  Message shape;
  for (const Index extent : tensor.extents)
    shape.message(1, Message().number(1, static_cast<std::uint64_t>(extent)));
  const Message type =
      Message().number(1, static_cast<std::uint64_t>(tensor.type)).message(2, shape);
  return Message().bytes(1, tensor.name).message(2, Message().message(1, type));
}

/// AttributeProto
Message attribute(const std::string& name, Index value) {
  return Message()
      .bytes(1, name)
      .number(3, static_cast<std::uint64_t>(value))
      .number(20, kIntAttribute);
}

/// OperatorSetIdProto
Message opset(const std::string& domain, std::uint64_t version) {
  return Message().bytes(1, domain).number(2, version);
}

}  // namespace

std::string model_of(const OnnxNode& node) {
  const std::string domain = "com.microsoft";
  Message operation;  // NodeProto
  Message graph;      // GraphProto
  for (const OnnxTensor& input : node.inputs) {
    operation.bytes(1, input.name);
    if (!input.name.empty()) graph.message(11, value_info(input));
  }
  for (const OnnxTensor& output : node.outputs) {
    operation.bytes(2, output.name);
    graph.message(12, value_info(output));
  }
  operation.bytes(4, node.operation).bytes(7, domain);
  for (const auto& [name, value] : node.attributes) operation.message(5, attribute(name, value));
  graph.message(1, operation).bytes(2, "attention");
  return Message()  // ModelProto
      .number(1, 8)
      .message(8, opset("", 17))
      .message(8, opset(domain, 1))
      .message(7, graph)
      .text();
}

}  // namespace attest::bench
