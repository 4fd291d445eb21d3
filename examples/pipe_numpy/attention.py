"""Attention in numpy as a kernel of attest: attest check 'pipe:python3 attention.py'

Scores of one head as a matrix, softmax, times v; in f32, or in f64 where an input is f64.
"""

import numpy as np

import attest_pipe

DESCRIPTION = {
    "name": "numpy",
    "version": np.__version__,
    "summary": "one head as a matrix of scores, softmax, times v",
    "dtypes": ["f32", "f64", "f16", "bf16"],
    "features": ["causal", "window", "keep_first", "prefix", "chunk", "segments", "mask_bits",
                 "block_mask", "key_lengths", "query_lengths", "grouped_heads", "softcap", "lse",
                 "lse_log2", "strides"],
}


def weighted(weights, seen, v):
    """weights @ v, where what a key that is not seen holds does not matter, NaN included."""
    v = np.where(seen.any(axis=0)[:, None], v, 0)
    if np.isfinite(v).all():
        return weights @ v
    terms = weights[:, :, None] * v[None]
    return np.where(seen[:, :, None], terms, 0).sum(axis=1)


def head(p, q, k, v, seen):
    """Out and natural lse of the queries of one head."""
    scores = (q @ k.T) * q.dtype.type(p.scale)
    if p.softcap:
        cap = q.dtype.type(p.softcap)
        scores = cap * np.tanh(scores / cap)
    scores = np.where(seen, scores, -np.inf)
    row_max = scores.max(axis=1, keepdims=True, initial=-np.inf)
    some = seen.any(axis=1, keepdims=True)
    weights = np.exp(scores - np.where(some, row_max, 0))
    row_sum = np.where(some, weights.sum(axis=1, keepdims=True), 1)
    out = np.where(some, weighted(weights, seen, v) / row_sum, 0)
    return out, np.where(some, row_max + np.log(row_sum), -np.inf)


def forward(call):
    p = call.problem
    real = np.float64 if p.dtype_compute == "f64" else np.float32
    q, k, v = (call[name].astype(real) for name in ("q", "k", "v"))
    out = np.zeros((p.batch, p.heads_q, p.seq_q, p.head_dim_v), real)
    lse = np.zeros((p.batch, p.heads_q, p.seq_q, 1), real)
    for b in range(p.batch):
        seen = call.visible(b)
        for h in range(p.heads_q):
            g = h // (p.heads_q // p.heads_kv)
            out[b, h], lse[b, h] = head(p, q[b, h], k[b, g], v[b, g], seen)
    if p.lse is None:
        return {"out": out}
    return {"out": out, "lse": lse / real(np.log(2)) if p.lse == "log2" else lse}


np.seterr(all="ignore")  # infinities and NaN are inputs like others
attest_pipe.serve(DESCRIPTION, forward=forward)
