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
masked keys hold, is left as it is. Ragged batch members are padded with ones and masked.
"""

import contextlib
import math
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pipe_numpy"))
import attest_pipe  # noqa: E402

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16}


# -- what the problem asks, as tensors of PyTorch ---------------------------------------------------


def as_torch(call, name):
    """A tensor of the call, in place; numpy has no bf16, only its bits."""
    stored = call.stored(name)
    if call.tensors[name]["dtype"] == "bf16":
        return torch.from_numpy(stored.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(stored)


def padded(call, name, lengths):
    """The rows that exist; ones behind them, as padding that is not zero."""
    rows = as_torch(call, name)
    whole = torch.ones_like(rows, memory_format=torch.contiguous_format)
    for member, length in enumerate(lengths):
        whole[member, :, :length] = rows[member, :, :length]
    return whole


def visible_pairs(call, device):
    """Which keys a query sees, (batch, 1, seq_q, seq_kv); None where every query sees every key."""
    problem = call.problem
    if not problem.mask and all(length == problem.seq_kv for length in problem.key_lengths):
        return None
    seen = np.stack([call.visible(b) for b in range(problem.batch)])
    return torch.from_numpy(seen).unsqueeze(1).to(device)


def added_scores(call, dtype, device):
    """What the problem adds to its scores, or None."""
    added = as_torch(call, "bias") if "bias" in call else None
    if "additive" in call.problem.mask:
        finite = as_torch(call, "additive").clamp(min=torch.finfo(torch.float64).min)
        added = finite if added is None else added + finite
    return None if added is None else added.to(device, dtype)


def flag_says_it(call, flag):
    """Whether the causal flag of the library says what the problem says."""
    problem = call.problem
    whole = all(length == problem.seq_kv for length in problem.key_lengths)
    return problem.mask == ["causal"] and "bias" not in call and whole and (flag or not any(problem.diagonal))


# -- the attentions of PyTorch ----------------------------------------------------------------------


class MaskedSoftmax:
    """Six lines as they stand in many models."""

    scales_query = False
    features = ["causal", "window", "key_lengths", "mask_bits", "additive_mask", "bias", "lse", "empty_nan"]

    def __call__(self, call, q, k, v):
        scores = torch.matmul(q, k.transpose(-1, -2)) * call.problem.scale
        added = added_scores(call, scores.dtype, q.device)
        if added is not None:
            scores = scores + added
        visible = visible_pairs(call, q.device)
        if visible is not None:
            scores = scores.masked_fill(~visible, -math.inf)
        out = torch.matmul(torch.softmax(scores, dim=-1), v)
        return {"out": out, "lse": torch.logsumexp(scores, dim=-1, keepdim=True)}


class Sdpa:
    """scaled_dot_product_attention, or its private ancestor."""

    scales_query = True
    features = ["causal", "window", "key_lengths", "mask_bits", "empty_nan"]

    def __init__(self, backend):
        self.flag = backend == "flag"
        self.old = not hasattr(F, "scaled_dot_product_attention")
        self.backend = None
        if backend not in ("", "flag"):
            from torch.nn.attention import SDPBackend

            self.backend = getattr(SDPBackend, backend.upper())
        if not self.old:
            # A float mask is documented, and rows without keys are zeros from 2.5 on.
            self.features = ["causal", "window", "key_lengths", "mask_bits", "additive_mask", "bias"]

    def __call__(self, call, q, k, v):
        problem = call.problem
        causal = flag_says_it(call, self.flag)
        if self.flag and "causal" in problem.mask and not causal:
            raise attest_pipe.Unsupported("beside is_causal there is no other mask")
        mask = None if causal else visible_pairs(call, q.device)
        if self.old:
            if problem.scale != scale_of(problem.head_dim, problem.dtype_compute):
                raise attest_pipe.Unsupported("the scale is always 1 / sqrt(head_dim)")
            return {"out": F._scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)[0]}
        added = added_scores(call, q.dtype, q.device)
        if added is not None:
            mask = added if mask is None else added.masked_fill(~mask, -math.inf)
        with self.only_backend():
            return {"out": F.scaled_dot_product_attention(
                q, k, v, attn_mask=mask, is_causal=causal, scale=problem.scale)}

    def only_backend(self):
        if self.backend is None:
            return contextlib.nullcontext()
        from torch.nn.attention import sdpa_kernel

        return sdpa_kernel(self.backend)


class Flex:
    """flex_attention: the mask is a function of indices."""

    scales_query = False
    features = ["causal", "window", "key_lengths", "mask_bits", "grouped_heads", "lse"]

    def __init__(self):
        from torch.nn.attention import flex_attention

        self.library = flex_attention

    def __call__(self, call, q, k, v):
        problem = call.problem
        visible = visible_pairs(call, q.device)
        mask = None
        if visible is not None:
            def seen(b, h, query, key):
                return visible[b, 0, query, key]

            mask = self.library.create_block_mask(
                seen, problem.batch, None, problem.seq_q, problem.seq_kv, device=q.device)
        out, lse = self.library.flex_attention(
            q, k, v, block_mask=mask, scale=problem.scale, enable_gqa=True, return_lse=True)
        return {"out": out, "lse": lse.unsqueeze(-1)}


def attention_of(form):
    name, _, backend = form.partition(":")
    if name == "masked_softmax" and not backend:
        return MaskedSoftmax()
    if name == "sdpa":
        return Sdpa(backend)
    if name == "flex" and not backend:
        return Flex()
    sys.exit(f"torch_attention.py: no form {form!r}; see the head of the file")


# -- the kernel -------------------------------------------------------------------------------------


def scale_of(head_dim, dtype):
    return float(torch.tensor(1 / math.sqrt(head_dim), dtype=torch.float64).to(DTYPES[dtype]))


def multiplies(dtype, device):
    """Whether this PyTorch multiplies matrices of that type there."""
    try:
        square = torch.ones(1, 2, 2, dtype=dtype, device=device)
        torch.matmul(square, square)
        return True
    except RuntimeError:
        return False


def accuracy_of(attention):
    """Sums in the compute type; what an operation returns is rounded to the type of its inputs."""

    def accuracy(call):
        dtype = call.problem.dtype_q
        stated = {"rounding": "nearest"}
        if attention.scales_query:
            stated["scaled_query"] = dtype
        if dtype in ("bf16", "f16"):
            stated.update(dot_accumulators=dtype, dot_roundings=4)
        return stated

    return accuracy


def forward_of(attention, device):
    def forward(call):
        problem = call.problem
        if problem.seq_kv == 0:
            raise attest_pipe.Unsupported("softmax over no keys")
        if (problem.dtype_bias or problem.dtype_compute) != problem.dtype_compute:
            raise attest_pipe.Unsupported("a bias of another type than the scores")
        q = padded(call, "q", problem.query_lengths).to(device)
        k, v = (padded(call, name, problem.key_lengths).to(device) for name in ("k", "v"))
        with torch.no_grad():
            results = attention(call, q, k, v)
        for name in ("out", "lse"):
            if name in call:
                stored = as_torch(call, name)
                for member, length in enumerate(problem.query_lengths):
                    stored[member, :, :length] = results[name][member, :, :length].to(stored)
        return {}  # written in place, so that bf16 keeps the rounding of the library

    return forward


def main():
    form = sys.argv[1] if len(sys.argv) > 1 else ""
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    attention = attention_of(form)
    torch.set_num_threads(1)
    description = {
        "name": f"pytorch-{form}" + ("" if device == "cpu" else f":{device}"),
        "version": torch.__version__,
        "summary": f"{form} of PyTorch {torch.__version__} on {device}.",
        "dtypes": [name for name, dtype in DTYPES.items() if multiplies(dtype, device)],
        "features": attention.features + ["query_lengths", "strides", "accuracy"],
    }
    attest_pipe.serve(description, forward=forward_of(attention, device), accuracy=accuracy_of(attention))


if __name__ == "__main__":
    main()
