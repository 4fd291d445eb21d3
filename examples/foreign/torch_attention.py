"""Attention of PyTorch as a kernel of attest, over the pipe protocol (docs/pipe-protocol.md).

  attest check 'pipe:python3 examples/foreign/torch_attention.py FORM [DEVICE]'

FORM says which attention of PyTorch runs; each raises where this PyTorch has none of that name.

  masked_softmax      matmul, masked_fill with -inf, softmax, matmul; lse by logsumexp
  sdpa                _scaled_dot_product_attention of 1.13, scaled_dot_product_attention of 2
  sdpa:flag           the same, with is_causal=True for every causal mask, whatever corner the
                      problem names: shows which corner the library means
  sdpa:BACKEND        the same on one backend of torch.nn.attention.SDPBackend: math,
                      flash_attention, efficient_attention, cudnn_attention (PyTorch 2.3 or newer)
  flex                torch.nn.attention.flex_attention, with a mask_mod (PyTorch 2.5 or newer)

DEVICE is cpu (the default) or cuda. What the library does to a row that sees no key, and to what
masked keys hold, is left as it is. Ragged batch members are padded with zeros and masked.
"""

import contextlib
import math
import os
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pipe_numpy"))
import attest_pipe  # noqa: E402

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16}


# -- what the problem asks, as tensors of PyTorch ---------------------------------------------------


def visible_pairs(problem, tensors, device):
    """Which keys a query sees, (batch, 1, seq_q, seq_kv); None where every query sees every key."""
    parts = problem["mask"]
    lengths = torch.tensor(problem["key_lengths"], device=device).view(-1, 1, 1, 1)
    if not parts and bool((lengths == problem["seq_kv"]).all()):
        return None
    key = torch.arange(problem["seq_kv"], device=device)
    query = torch.arange(problem["seq_q"], device=device).view(-1, 1)
    place = query + torch.tensor(problem["diagonal"], device=device).view(-1, 1, 1, 1)
    visible = (key < lengths) & (query >= 0)
    if "causal" in parts:
        visible = visible & (key <= place)
    if "window_left" in parts:
        visible = visible & (key >= place - problem["window_left"])
    if "window_right" in parts:
        visible = visible & (key <= place + problem["window_right"])
    if "bits" in parts:
        visible = visible & (tensors["bits"].to(device) != 0)
    if "additive" in parts:
        visible = visible & (tensors["additive"].to(device) != -math.inf)
    return visible


def added_scores(problem, tensors, dtype, device):
    """What the problem adds to its scores, or None."""
    added = tensors.get("bias")
    if "additive" in problem["mask"]:
        finite = tensors["additive"].clamp(min=torch.finfo(torch.float64).min)
        added = finite if added is None else added + finite
    return None if added is None else added.to(device, dtype)


def is_square_causal(problem, flag):
    """Whether the flag of the library says what the problem says."""
    plain = problem["mask"] == ["causal"] and "bias" not in problem
    whole = all(n == problem["seq_kv"] for n in problem["key_lengths"])
    return plain and whole and (flag or not any(problem["diagonal"]))


# -- the attentions of PyTorch ----------------------------------------------------------------------


class MaskedSoftmax:
    """Six lines as they stand in many models."""

    features = ["causal", "window", "key_lengths", "mask_bits", "additive_mask", "bias", "lse", "empty_nan"]
    # Every operation rounds to the dtype of the tensors: scores, weights and output.
    accuracy = {"bf16": {"accumulators": "bf16"}}

    def __call__(self, problem, tensors, q, k, v):
        scores = torch.matmul(q, k.transpose(-1, -2)) * problem["scale"]
        added = added_scores(problem, tensors, scores.dtype, q.device)
        if added is not None:
            scores = scores + added
        visible = visible_pairs(problem, tensors, q.device)
        if visible is not None:
            scores = scores.masked_fill(~visible, -math.inf)
        out = torch.matmul(torch.softmax(scores, dim=-1), v)
        return out, torch.logsumexp(scores, dim=-1, keepdim=True) if "lse" in problem else None


class Sdpa:
    """scaled_dot_product_attention, or its private ancestor."""

    features = ["causal", "window", "key_lengths", "mask_bits", "empty_nan"]
    accuracy = {"bf16": {"accumulators": "bf16"}}

    def __init__(self, backend=None):
        self.flag = backend == "flag"
        self.old = not hasattr(F, "scaled_dot_product_attention")
        self.backend = None
        if backend not in (None, "flag"):
            from torch.nn.attention import SDPBackend

            self.backend = getattr(SDPBackend, backend.upper())
        if not self.old:
            # PyTorch 2.5 gives zeros to a row that sees no key; a float mask is documented.
            self.features = ["causal", "window", "key_lengths", "mask_bits", "additive_mask", "bias"]

    def __call__(self, problem, tensors, q, k, v):
        causal = is_square_causal(problem, self.flag)
        mask = None if causal else visible_pairs(problem, tensors, q.device)
        if self.old:
            if not same(problem["scale"], 1 / math.sqrt(problem["head_dim"])):
                raise attest_pipe.Unsupported("the scale is always 1 / sqrt(head_dim)")
            return F._scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)[0], None
        added = added_scores(problem, tensors, q.dtype, q.device)
        if added is not None:
            mask = added if mask is None else added.masked_fill(~mask, -math.inf)
        with self.only_backend():
            return F.scaled_dot_product_attention(
                q, k, v, attn_mask=mask, is_causal=causal, scale=problem["scale"]), None

    def only_backend(self):
        if self.backend is None:
            return contextlib.nullcontext()
        from torch.nn.attention import sdpa_kernel

        return sdpa_kernel(self.backend)


class Flex:
    """flex_attention: the mask is a function of indices."""

    features = ["causal", "window", "key_lengths", "mask_bits", "grouped_heads", "lse"]
    accuracy = {}

    def __init__(self):
        from torch.nn.attention import flex_attention

        self.library = flex_attention

    def __call__(self, problem, tensors, q, k, v):
        visible = visible_pairs(problem, tensors, q.device)
        mask = None
        if visible is not None:
            def seen(b, h, query, key):
                return visible[b, 0, query, key]

            mask = self.library.create_block_mask(
                seen, problem["batch"], None, problem["seq_q"], problem["seq_kv"], device=q.device)
        out, lse = self.library.flex_attention(
            q, k, v, block_mask=mask, scale=problem["scale"], enable_gqa=True, return_lse=True)
        return out, lse.unsqueeze(-1)


def attention(form):
    name, _, backend = form.partition(":")
    if name == "masked_softmax" and not backend:
        return MaskedSoftmax()
    if name == "sdpa":
        return Sdpa(backend or None)
    if name == "flex" and not backend:
        return Flex()
    sys.exit(f"torch_attention.py: no form {form!r}; see the head of the file")


# -- the kernel -------------------------------------------------------------------------------------


def same(left, right):
    return torch.tensor(left, dtype=torch.float32) == torch.tensor(right, dtype=torch.float32)


def padded(rows, lengths):
    """The rows that exist, on the device; zeros behind them."""
    whole = torch.zeros_like(rows, memory_format=torch.contiguous_format)
    for member, length in enumerate(lengths):
        whole[member, :, :length] = rows[member, :, :length]
    return whole


def multiplies(dtype, device):
    """Whether this PyTorch multiplies matrices of that type there."""
    try:
        square = torch.ones(1, 2, 2, dtype=dtype, device=device)
        torch.matmul(square, square)
        return True
    except RuntimeError:
        return False


def as_torch(array, dtype):
    """A numpy view as a tensor of PyTorch in the same memory; numpy has no bf16, only its bits."""
    if dtype == "bf16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)


def forward_of(run, device):
    def forward(problem, arrays):
        if problem["seq_kv"] == 0:
            raise attest_pipe.Unsupported("softmax over no keys")
        if problem.get("dtype_bias", problem["dtype_compute"]) != problem["dtype_compute"]:
            raise attest_pipe.Unsupported("a bias of another type than the scores")
        types = {"q": "dtype_q", "k": "dtype_k", "v": "dtype_v", "out": "dtype_out"}
        tensors = {name: as_torch(array, problem.get(types.get(name), "f64")) for name, array in arrays.items()}
        queries, keys = problem["query_lengths"], problem["key_lengths"]
        with torch.no_grad():
            out, lse = run(
                problem, tensors,
                padded(tensors["q"], queries).to(device),
                padded(tensors["k"], keys).to(device),
                padded(tensors["v"], keys).to(device))
        for name, result in (("out", out), ("lse", lse)):
            if name not in tensors:
                continue
            for member, length in enumerate(queries):
                tensors[name][member, :, :length] = result[member, :, :length].to(tensors[name])
    return forward


def main():
    form = sys.argv[1] if len(sys.argv) > 1 else ""
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    run = attention(form)
    torch.set_num_threads(1)
    description = {
        "name": f"pytorch-{form}" + ("" if device == "cpu" else f":{device}"),
        "version": torch.__version__,
        "summary": f"{form} of PyTorch {torch.__version__} on {device}.",
        "dtypes": [name for name, dtype in DTYPES.items() if multiplies(dtype, device)],
        "features": run.features + ["query_lengths", "strides"],
        "accuracy": {"rounding": "nearest"},
    }
    attest_pipe.serve(description, forward_of(run, device))


if __name__ == "__main__":
    main()
