"""A kernel of the project behind a pipe: `python3 piped.py`, or with a bug `python3 piped.py wrong`.

Python finds attest_pipe by PYTHONPATH; `attest new NAME --abi pipe` writes a copy to keep.
"""

import sys

import numpy as np

import attest_pipe

FORGETS_THE_SCALE = "wrong" in sys.argv[1:]


def weighted(weights, seen, v):
    """weights @ v; a key that is not seen may hold NaN, which 0 times would let through."""
    if np.isfinite(v).all():
        return weights @ v
    return np.where(seen[..., None], weights[..., None] * v[:, :, None], 0).sum(axis=3)


def forward(call):
    """Scores of all heads as one array, softmax over its last axis, times v."""
    p = call.problem
    q, k, v = (call[name].astype(np.float64) for name in ("q", "k", "v"))
    scores = q @ k.swapaxes(2, 3) * (1 if FORGETS_THE_SCALE else p.scale)
    seen = np.broadcast_to(np.array([call.visible(b) for b in range(p.batch)])[:, None]
                           if p.batch else False, scores.shape)
    scores = np.where(seen, scores, -np.inf)
    row_max = scores.max(axis=3, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(row_max == -np.inf, 0, row_max))
    row_sum = weights.sum(axis=3, keepdims=True)
    return {"out": weighted(weights, seen, v) / np.where(row_sum == 0, 1, row_sum),  # no key: 0
            "lse": row_max + np.log(row_sum)}


np.seterr(all="ignore")  # infinities and NaN are inputs like others
attest_pipe.serve({"name": "piped", "version": "1", "summary": "all heads as one array, in double",
                   "dtypes": ["f32"], "features": ["causal", "lse"]}, forward=forward)
