// The pipe protocol of attest (docs/pipe-protocol.md) for a kernel in Node.
//
//   import { serve, Unsupported } from "./attest_pipe.mjs";
//   serve({ name: "mine", dtypes: ["f32"] }, { forward: ({ problem, tensors }) => { ... } });
//
// A second function, accuracy(problem), states what holds for one problem; its result has the members
// of `accuracy` in a description, whose features must then have the word "accuracy".
// A tensor has name, dtype, extents, strides in elements, and `data`, a typed array whose element
// (b, h, r, c) lies at b*strides[0] + h*strides[1] + r*strides[2] + c*strides[3]. Elements of bf16
// and f16 are their 16 bits. What the kernel writes to out and lse is sent back.
import { readSync, writeSync } from "node:fs";

const arrays = {
  f32: Float32Array, f64: Float64Array, bf16: Uint16Array, f16: Uint16Array,
  e4m3: Uint8Array, e5m2: Uint8Array, u8: Uint8Array, i64: BigInt64Array,
};
const LETTERS = "ATP1";
const HEAD = 16;

/** The call is beyond the kernel: its case is skipped. */
export class Unsupported extends Error {}

function readExactly(bytes) {
  const buffer = new Uint8Array(bytes);
  for (let at = 0; at < bytes;) {
    const count = readSync(0, buffer, at, bytes - at, null);
    if (count === 0) return at === 0 ? null : process.exit(1);
    at += count;
  }
  return buffer;
}

function readFrame() {
  const head = readExactly(HEAD);
  if (head === null) return null;
  const view = new DataView(head.buffer);
  if (Buffer.from(head.subarray(0, 4)).toString() !== LETTERS) throw new Error("not a frame");
  const line = readExactly(view.getUint32(4, true));
  // Copied, so that every tensor begins at an address that its type allows.
  const data = readExactly(Number(view.getBigUint64(8, true))) ?? new Uint8Array(0);
  return { message: JSON.parse(Buffer.from(line).toString()), data };
}

function writeAll(bytes) {
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
}

function writeFrame(message, data) {
  const line = Buffer.from(JSON.stringify(message) + "\n");
  const head = Buffer.alloc(HEAD);
  head.write(LETTERS);
  head.writeUInt32LE(line.length, 4);
  head.writeBigUInt64LE(BigInt(data.length), 8);
  writeAll(Buffer.concat([head, line]));
  writeAll(data);
}

function tensorsOf(message, data) {
  const tensors = {};
  for (const tensor of message.tensors) {
    const type = arrays[tensor.dtype];
    const count = tensor.bytes / type.BYTES_PER_ELEMENT;
    tensors[tensor.name] = { ...tensor, data: new type(data.buffer, tensor.offset, count) };
  }
  return tensors;
}

/** What is written goes back: the spans of the results, one after the other. */
function resultsOf(tensors) {
  const parts = [];
  const entries = [];
  let offset = 0;
  for (const { name, data, writable, bytes } of Object.values(tensors)) {
    if (!writable) continue;
    entries.push({ name, offset, bytes });
    parts.push(new Uint8Array(data.buffer, data.byteOffset, bytes));
    const padding = (64 - (bytes % 64)) % 64;
    parts.push(new Uint8Array(padding));
    offset += bytes + padding;
  }
  return { tensors: entries, data: Buffer.concat(parts) };
}

async function answer(description, kernel, message, data) {
  switch (message.message) {
    case "hello":
      return message.protocol === 1 ? { protocol: 1 } : { status: "unsupported", reason: "only protocol 1" };
    case "describe":
      return { description };
    case "forward": {
      const tensors = tensorsOf(message, data);
      await kernel.forward({ problem: message.problem, tensors });
      return resultsOf(tensors);
    }
    case "accuracy":
      return { accuracy: kernel.accuracy(message.problem) };
    case "bye":
      return {};
    default:
      return { status: "unsupported", reason: `no message ${message.message}` };
  }
}

export async function serve(description, kernel) {
  for (let frame = readFrame(); frame !== null; frame = readFrame()) {
    const { message, data } = frame;
    let reply;
    try {
      reply = await answer(description, kernel, message, data);
    } catch (error) {
      const status = error instanceof Unsupported ? "unsupported" : "failed";
      reply = { status, reason: String(error.message).split("\n")[0] };
    }
    const { data: results = new Uint8Array(0), ...line } = reply;
    writeFrame({ id: message.id, status: "ok", ...line }, results);
    if (message.message === "bye") return;
  }
}
