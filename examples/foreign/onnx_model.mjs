// The bytes of an ONNX model with one node (protobuf wire format of onnx.proto), without any package.

const INT = 2;
const FLOAT = 1;
const types = { float32: 1, int32: 6, int64: 7, bool: 9, float16: 10 };

class Message {
  parts = [];

  varint(value) {
    for (; value >= 0x80; value = Math.floor(value / 0x80)) this.parts.push((value % 0x80) | 0x80);
    this.parts.push(value);
  }
  number(field, value) {
    this.varint(field * 8);
    this.varint(value);
    return this;
  }
  float(field, value) {
    this.varint(field * 8 + 5);
    this.parts.push(...new Uint8Array(new Float32Array([value]).buffer));
    return this;
  }
  bytes(field, value) {
    const content = typeof value === "string" ? Buffer.from(value) : Uint8Array.from(value.parts);
    this.varint(field * 8 + 2);
    this.varint(content.length);
    this.parts.push(...content);
    return this;
  }
}

/** ValueInfoProto of a tensor {name, type, dims}. */
function valueInfo({ name, type, dims }) {
  const shape = new Message();
  for (const dim of dims) shape.bytes(1, new Message().number(1, dim));
  const tensor = new Message().number(1, types[type]).bytes(2, shape);
  return new Message().bytes(1, name).bytes(2, new Message().bytes(1, tensor));
}

/** AttributeProto: whole numbers, or {float: number}. */
function attribute(name, value) {
  const message = new Message().bytes(1, name);
  return typeof value === "number" ? message.number(3, value).number(20, INT)
    : message.float(2, value.float).number(20, FLOAT);
}

/**
 * A model of one node. `inputs` and `outputs` are tensors, null for an optional input that is left
 * out; `domain` is "" for the operators of ONNX itself.
 */
export function model({ operation, domain, opset, inputs, outputs, attributes }) {
  const node = new Message();
  const graph = new Message();
  for (const input of inputs) {
    node.bytes(1, input === null ? "" : input.name);
    if (input !== null) graph.bytes(11, valueInfo(input));
  }
  for (const output of outputs) {
    node.bytes(2, output.name);
    graph.bytes(12, valueInfo(output));
  }
  node.bytes(4, operation).bytes(7, domain);
  for (const [name, value] of Object.entries(attributes)) node.bytes(5, attribute(name, value));
  graph.bytes(1, node).bytes(2, "attention");
  const whole = new Message().number(1, 10).bytes(8, new Message().bytes(1, "").number(2, domain === "" ? opset : 17));
  if (domain !== "") whole.bytes(8, new Message().bytes(1, domain).number(2, opset));
  return Uint8Array.from(whole.bytes(7, graph).parts);
}
