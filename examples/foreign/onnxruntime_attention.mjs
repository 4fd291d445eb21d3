// Attention operators of ONNX Runtime as kernels of attest, over the pipe protocol.
//
//   attest check 'pipe:node examples/foreign/onnxruntime_attention.mjs FORM'
//
// FORM is
//   mha             com.microsoft.MultiHeadAttention: ragged keys as key_padding_mask, every other
//                   mask and the bias as attention_bias, a causal mask of as many queries as keys by
//                   unidirectional=1
//   mha:flag        the same with unidirectional=1 for every causal mask, whatever corner the
//                   problem names: shows which corner the operator means
//   attention       Attention of ONNX (opset 24): ragged keys as nonpad_kv_seqlen, other masks as a
//                   boolean attn_mask (with a bias as a float one), a causal mask at the top left of
//                   keys that are not ragged by is_causal=1
//   attention:flag  the same with is_causal=1 for every causal mask
//
// The package onnxruntime-node is looked for where `./run bench` and `./run foreign` put it, then
// as Node does. What the operators do to a row that sees no key is left as it is.
// Padding of ragged members is ones.
import { serve, Unsupported } from "./attest_pipe.mjs";
import { onnxruntime } from "./find_onnxruntime.mjs";
import { model } from "./onnx_model.mjs";

const ort = onnxruntime();
const [operator, flag] = (process.argv[2] ?? "").split(":");
const onnxTypes = { f32: "float32", f16: "float16" };
const arrays = { float32: Float32Array, float16: Uint16Array };

// -- what the problem asks, as tensors of ONNX ---------------------------------------------------

/** The bits of 1 in f16, for arrays that hold bits. */
const ONE_F16 = 0x3c00;

/**
 * The rows that exist, (batch, heads, rows, columns) or, as rows, (batch, rows, heads * columns);
 * ones behind them, as padding that is not zero.
 */
function dense({ data, extents, strides }, lengths, asRows) {
  const [batch, heads, rows, columns] = extents;
  const packed = new data.constructor(batch * heads * rows * columns);
  packed.fill(data instanceof Uint16Array ? ONE_F16 : 1);
  for (let b = 0; b < batch; ++b)
    for (let h = 0; h < heads; ++h)
      for (let r = 0; r < lengths[b]; ++r) {
        const to = (asRows ? (b * rows + r) * heads + h : (b * heads + h) * rows + r) * columns;
        const from = b * strides[0] + h * strides[1] + r * strides[2];
        for (let c = 0; c < columns; ++c) packed[to + c] = data[from + c * strides[3]];
      }
  return packed;
}

/** The way back, into the elements of `out` that exist. */
function store(packed, { data, extents, strides }, lengths, asRows) {
  const [batch, heads, rows, columns] = extents;
  for (let b = 0; b < batch; ++b)
    for (let h = 0; h < heads; ++h)
      for (let r = 0; r < lengths[b]; ++r) {
        const from = (asRows ? (b * rows + r) * heads + h : (b * heads + h) * rows + r) * columns;
        const to = b * strides[0] + h * strides[1] + r * strides[2];
        for (let c = 0; c < columns; ++c) data[to + c * strides[3]] = packed[from + c];
      }
}

/** Element (query, key) of a tensor of the mask, which may have one row for every query. */
const pair = ({ data, extents, strides }, query, key) =>
  data[(extents[2] === 1 ? 0 : query * strides[2]) + key * strides[3]];

/** Whether the parts of the mask beside lengths let a key through. */
function passes(problem, tensors, b, query, key) {
  const place = query + problem.diagonal[b];
  const parts = {
    causal: () => key <= place,
    window_left: () => key >= place - problem.window_left,
    window_right: () => key <= place + problem.window_right,
    bits: () => pair(tensors.bits, query, key) !== 0,
    additive: () => pair(tensors.additive, query, key) !== -Infinity,
  };
  return problem.mask.every((part) => parts[part]());
}

/** number(b, h, query, key) for every element of (batch, heads, seq_q, seq_kv), into `numbers`. */
function fill(numbers, problem, heads, number) {
  let at = 0;
  for (let b = 0; b < problem.batch; ++b)
    for (let h = 0; h < heads; ++h)
      for (let i = 0; i < problem.seq_q; ++i)
        for (let j = 0; j < problem.seq_kv; ++j) numbers[at++] = number(b, h, i, j);
  return numbers;
}

/** Bias, additive mask and -inf for what does not pass, as one float mask. */
function floatMask(problem, tensors) {
  const heads = tensors.bias ? problem.heads_q : 1;
  const count = problem.batch * heads * problem.seq_q * problem.seq_kv;
  const bias = tensors.bias;
  const data = fill(new Float32Array(count), problem, heads, (b, h, i, j) => {
    if (!passes(problem, tensors, b, i, j)) return -Infinity;
    if (j >= problem.key_lengths[b]) return 0; // the key is padding: there is no such bias
    const added = problem.mask.includes("additive") ? pair(tensors.additive, i, j) : 0;
    if (!bias) return added;
    const [sb, sh, si, sj] = bias.strides;
    return Math.fround(bias.data[b * sb + h * sh + i * si + j * sj]) + added;
  });
  return input("mask", "float32", [problem.batch, heads, problem.seq_q, problem.seq_kv], data);
}

function boolMask(problem, tensors) {
  const count = problem.batch * problem.seq_q * problem.seq_kv;
  const data = fill(new Uint8Array(count), problem, 1, (b, h, i, j) => +passes(problem, tensors, b, i, j));
  return input("mask", "bool", [problem.batch, 1, problem.seq_q, problem.seq_kv], data);
}

const input = (name, type, dims, data) => ({ name, type, dims, data });
const isRagged = (problem) => problem.key_lengths.some((length) => length !== problem.seq_kv);
const isOnlyCausal = ({ mask }) => mask.length === 1 && mask[0] === "causal";
const addsScores = (problem, tensors) => tensors.bias !== undefined || problem.mask.includes("additive");

// -- the operators -------------------------------------------------------------------------------

function multiHeadAttention(problem, tensors) {
  const { batch, heads_q: heads, seq_q: queries, seq_kv: keys } = problem;
  const square = queries === keys && problem.diagonal.every((offset) => offset === 0);
  const unidirectional = isOnlyCausal(problem) && (flag === "flag" || square);
  const rows = (name, tensor, lengths) =>
    input(name, "float32", [batch, tensor.extents[2], heads * tensor.extents[3]], dense(tensor, lengths, true));
  const padding = new Int32Array(batch * keys);
  for (let at = 0; at < padding.length; ++at)
    padding[at] = at % keys < problem.key_lengths[Math.floor(at / keys)] ? 1 : 0;
  const needsMask = (problem.mask.length > 0 && !unidirectional) || tensors.bias;
  return {
    operation: "MultiHeadAttention", domain: "com.microsoft", opset: 1,
    inputs: [
      rows("q", tensors.q, problem.query_lengths),
      rows("k", tensors.k, problem.key_lengths),
      rows("v", tensors.v, problem.key_lengths),
      null,
      isRagged(problem) ? input("padding", "int32", [batch, keys], padding) : null,
      needsMask ? floatMask(unidirectional ? { ...problem, mask: [] } : problem, tensors) : null,
    ],
    outputs: [{ name: "out", type: "float32", dims: [batch, queries, heads * problem.head_dim_v] }],
    attributes: { num_heads: heads, scale: { float: problem.scale }, unidirectional: +unidirectional },
  };
}

function onnxAttention(problem, tensors) {
  const { batch, seq_q: queries, seq_kv: keys } = problem;
  const type = onnxTypes[problem.dtype_q];
  const topLeft = problem.diagonal.every((offset) => offset === 0);
  const causal = isOnlyCausal(problem) && (flag === "flag" || (topLeft && !isRagged(problem)));
  const rest = causal ? { ...problem, mask: [] } : problem;
  if (addsScores(problem, tensors) && type !== "float32") throw new Unsupported("attn_mask has the type of q; the problem adds numbers of f32");
  let mask = null;
  if (addsScores(rest, tensors)) mask = floatMask(rest, tensors);
  else if (rest.mask.length > 0) mask = boolMask(rest, tensors);
  const lengths = BigInt64Array.from(problem.key_lengths.map(BigInt));
  const heads = (name, tensor, valid) => input(name, type, tensor.extents, dense(tensor, valid, false));
  return {
    operation: "Attention", domain: "", opset: 24,
    inputs: [
      heads("q", tensors.q, problem.query_lengths),
      heads("k", tensors.k, problem.key_lengths),
      heads("v", tensors.v, problem.key_lengths),
      mask, null, null,
      isRagged(problem) ? input("lengths", "int64", [batch], lengths) : null,
    ],
    outputs: [{ name: "out", type, dims: [batch, problem.heads_q, queries, problem.head_dim_v] }],
    attributes: {
      is_causal: +causal, scale: { float: problem.scale },
      ...(problem.softcap ? { softcap: { float: problem.softcap } } : {}),
    },
  };
}

/** Sessions of the last models, by all but their numbers. */
const sessions = new Map();
const MOST_SESSIONS = 16;

async function sessionOf(node) {
  const bytes = model(node);
  const name = Buffer.from(bytes).toString("base64");
  if (!sessions.has(name)) {
    if (sessions.size >= MOST_SESSIONS) {
      const [oldest, session] = sessions.entries().next().value;
      sessions.delete(oldest);
      await session.release();
    }
    const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 };
    sessions.set(name, await ort.InferenceSession.create(bytes, options));
  }
  return sessions.get(name);
}

async function forward({ problem, tensors }) {
  if (problem.seq_q === 0 || problem.seq_kv === 0) throw new Unsupported("sequence lengths must be greater than 0");
  if (!(problem.scale > 0)) throw new Unsupported("scale must be greater than 0; 0 means that it is absent");
  if (problem.dtype_bias && problem.dtype_bias !== "f32") throw new Unsupported("a bias of another type than the scores");
  const isMha = operator === "mha";
  const node = (isMha ? multiHeadAttention : onnxAttention)(problem, tensors);
  while (node.inputs.at(-1) === null) node.inputs.pop();
  const session = await sessionOf(node);
  const feeds = {};
  for (const given of node.inputs)
    if (given !== null) feeds[given.name] = new ort.Tensor(given.type, given.data, given.dims);
  const { out } = await session.run(feeds);
  const type = arrays[node.outputs[0].type];
  // Numbers of f16 come as their bits, or as a Float16Array where this Node has one.
  store(new type(out.data.buffer, out.data.byteOffset, out.data.length), tensors.out, problem.query_lengths, isMha);
}

const shared = ["causal", "window", "key_lengths", "query_lengths", "mask_bits", "additive_mask", "bias", "strides", "accuracy"];
const arithmetic = { rounding: "nearest" };
// Sums in f32; the scores, and what is added to them, are rounded to f16.
const narrow = { ...arithmetic, dot_accumulators: "f16", dot_roundings: 4 };
const kernels = {
  mha: {
    name: "onnxruntime-MultiHeadAttention", dtypes: ["f32"], features: [...shared, "empty_nan"],
    summary: "MultiHeadAttention of com.microsoft on the CPU, by onnxruntime-node.",
  },
  attention: {
    name: "onnxruntime-Attention", dtypes: ["f32", "f16"], features: [...shared, "softcap", "grouped_heads"],
    summary: "Attention of ONNX opset 24 on the CPU, by onnxruntime-node.",
  },
};

if (kernels[operator] === undefined || !["flag", undefined].includes(flag)) {
  console.error("onnxruntime_attention.mjs: FORM is mha, mha:flag, attention or attention:flag");
  process.exit(2);
}
const description = kernels[operator];
const kernel = { forward, accuracy: ({ dtype_q: dtype }) => (dtype === "f16" ? narrow : arithmetic) };
await serve({ ...description, name: description.name + (flag ? ":flag" : ""), version: ort.env.versions.node }, kernel);
