"""The pipe protocol of attest (docs/pipe-protocol.md) for kernels in Python.

    import attest_pipe
    attest_pipe.serve(description, forward=forward)

`forward(call)` gets the problem as call.problem.batch and so on, the tensors as numpy arrays by
call["q"], and returns {"out": array, "lse": array}. Arrays have the index order (batch, head, row,
column). bf16 and fp8 come as f32; results are rounded to the type that the problem asks for.

Arrays of a large call lie in memory that attest shares, and hold until the call is answered: keep
copies, or say serve(..., shared_memory=False).

Needs numpy. Anything printed goes to standard error; standard output belongs to the protocol.
"""

import json
import mmap
import os
import struct
import sys
import types

import numpy as np

VERSION = 1
HEADER = struct.Struct("<4sIQ")
LETTERS = b"ATP1"
ALIGNMENT = 64
STORED = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "bf16": "<u2", "e4m3": "u1", "e5m2": "u1",
          "u8": "u1", "i64": "<i8"}
RESULTS = {"out", "lse", "dq", "dk", "dv", "dbias", "dsink"}


class Unsupported(Exception):
    """This call is beyond the kernel: the case is skipped."""


class AllMaskedRow(Exception):
    """AllMaskedRow(b, h, i): a row sees no key, and the problem asks to reject that."""


# ---- Numbers ------------------------------------------------------------------------------------

def _fp8_values(exponent_bits, mantissa_bits, bias, has_infinity):
    """The f32 value of each of the 256 codes (OCP 8-bit floating point, 2023)."""
    codes = np.arange(256)
    exponent = (codes >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = codes & ((1 << mantissa_bits) - 1)
    fraction = mantissa / (1 << mantissa_bits)
    values = np.where(exponent == 0, fraction * 2.0 ** (1 - bias),
                      (1 + fraction) * 2.0 ** (exponent - bias))
    top = exponent == (1 << exponent_bits) - 1
    if has_infinity:
        values[top] = np.where(mantissa[top] == 0, np.inf, np.nan)
    else:
        values[top & (mantissa == (1 << mantissa_bits) - 1)] = np.nan
    return np.where(codes < 128, values, -values).astype(np.float32)


FP8 = {"e4m3": _fp8_values(4, 3, 7, False), "e5m2": _fp8_values(5, 2, 15, True)}


def decoded(stored, dtype):
    """Stored numbers as floats; f16, f32, f64 and integers stay as they are."""
    if dtype == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return FP8[dtype][stored] if dtype in FP8 else stored


def encoded(values, dtype):
    """Floats rounded to nearest, ties to even, as stored numbers of the dtype."""
    if dtype == "bf16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        rounded = ((bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
        return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)
    if dtype in FP8:
        return _encoded_fp8(np.asarray(values, np.float64), FP8[dtype].astype(np.float64))
    return values


def _encoded_fp8(values, table):
    finite = np.flatnonzero(np.isfinite(table[:128]))
    size = np.minimum(np.abs(values), table[finite[-1]])
    above = np.clip(np.searchsorted(table[finite], size), 1, len(finite) - 1)
    below = above - 1
    to_above, to_below = table[above] - size, size - table[below]
    code = np.where((to_above < to_below) | ((to_above == to_below) & (above % 2 == 0)), above, below)
    code = np.where(np.isnan(values), 127, code)
    return (code + np.where(np.signbit(values), 128, 0)).astype(np.uint8)


# ---- A call -------------------------------------------------------------------------------------

class Problem(types.SimpleNamespace):
    """Members of the problem as attributes; one that is absent is None."""

    def __getattr__(self, name):
        return None


class Call:
    """One request with its tensors, which lie in `data`."""

    def __init__(self, request, data):
        self.problem = Problem(**request.get("problem", {}))
        self.tiling = Problem(**request.get("tiling", {}))
        self.keys = request.get("key_begin"), request.get("key_end")
        self.tensors = {tensor["name"]: tensor for tensor in request.get("tensors", [])}
        self._data = data
        self._shared = request.get("shared", 0)

    def __contains__(self, name):
        return name in self.tensors

    def __getitem__(self, name):
        return decoded(self.stored(name), self.tensors[name]["dtype"])

    def stored(self, name):
        """The stored numbers in place: an array that may be written for results."""
        tensor = self.tensors[name]
        dtype = np.dtype(STORED[tensor["dtype"]])
        strides = [stride * dtype.itemsize for stride in tensor["strides"]]
        return np.ndarray(tensor["extents"], dtype, self._data, tensor["offset"], strides)

    def visible(self, b):
        """Which key (column) each query (row) of a batch member sees."""
        p = self.problem
        i = np.arange(p.seq_q)[:, None]
        j = np.arange(p.seq_kv)[None, :]
        position = i + p.diagonal[b]
        seen = (i < p.query_lengths[b]) & (j < p.key_lengths[b])
        if "causal" in p.mask:
            seen &= (j <= position) | (j < (p.prefix or 0))
        if "window_left" in p.mask:
            seen &= (j >= position - p.window_left) | (j < (p.keep_first or 0))
        if "window_right" in p.mask:
            seen &= j <= position + p.window_right
        if "chunk" in p.mask:
            seen &= position // p.chunk == j // p.chunk
        if "segments" in p.mask:
            seen &= self["segments_q"][0, 0].T == self["segments_k"][0, 0]
        if "bits" in p.mask:
            seen &= self["bits"][0, 0] != 0
        if "blocks" in p.mask:
            seen &= self["blocks"][0, 0][i // p.block_q, j // p.block_kv] != 0
        if "additive" in p.mask:
            seen &= self["additive"][0, 0] != -np.inf
        return seen

    def write(self, results):
        """Rounds arrays to the types of the results and writes the rows that exist. Results that
        the problem does not ask for are left out."""
        for name, values in results.items():
            if name in RESULTS and name not in self:
                continue
            stored = self.stored(name)
            rounded = encoded(values, self.tensors[name]["dtype"])
            lengths = self._lengths(name, stored.shape)
            for b, length in enumerate(lengths):
                stored[b, :, :length] = rounded[b, :, :length]

    def _lengths(self, name, shape):
        p = self.problem
        keys = name in ("dk", "dv")
        plain = p.layout != "thd" and (not keys or p.kv == "rows")
        if not plain or shape[0] != p.batch or name in ("dbias", "dsink"):
            return [shape[2]] * shape[0]
        return p.key_lengths if keys else p.query_lengths


# ---- Conversation -------------------------------------------------------------------------------

class SharedMemory:
    """The file that attest offers for the data of large calls."""

    def __init__(self, path):
        self._file = open(path, "r+b")
        self._memory = b""

    def data(self, count):
        """The first bytes of the file, which may have grown since the last call."""
        if len(self._memory) < count:
            self._memory = mmap.mmap(self._file.fileno(), count)
        return self._memory


def _taken(hello):
    """None where nothing is offered, and on another machine, which does not have the file."""
    try:
        return SharedMemory(hello["shared_memory"]) if "shared_memory" in hello else None
    except OSError:
        return None


def _read(stream, count):
    data = bytearray(count)
    view = memoryview(data)
    done = 0
    while done < count:
        got = stream.readinto(view[done:])
        if not got:
            return None
        done += got
    return data


def _send(stream, reply, parts=()):
    line = json.dumps(reply).encode() + b"\n"
    stream.write(HEADER.pack(LETTERS, len(line), sum(len(part) for part in parts)) + line)
    for part in parts:
        stream.write(part)
    stream.flush()


def _results(call):
    """The tensors that go back, and their bytes with the gaps between them."""
    tensors, parts, end = [], [], 0
    for name, tensor in call.tensors.items():
        if not tensor.get("writable"):
            continue
        gap = -end % ALIGNMENT
        begin = tensor["offset"]
        parts += [bytes(gap), memoryview(call._data)[begin:begin + tensor["bytes"]]]
        tensors.append({"name": name, "offset": end + gap, "bytes": tensor["bytes"]})
        end += gap + tensor["bytes"]
    return tensors, parts


def _results_in_place(call):
    """The tensors that go back, where they lie in shared memory."""
    return [{"name": name, "offset": tensor["offset"], "bytes": tensor["bytes"]}
            for name, tensor in call.tensors.items() if tensor.get("writable")]


def _hello(request, shared):
    if request["protocol"] != VERSION:
        raise Unsupported(f"attest_pipe.py speaks version {VERSION} of the protocol")
    return {"protocol": VERSION, "shared_memory": shared is not None}


def _answer(request, data, description, functions):
    message = request["message"]
    if message == "describe":
        return {"description": description}, ()
    if message == "bye":
        return {}, ()
    if functions.get(message) is None:
        raise Unsupported(f"this kernel has no {message}")
    if message == "set_threads":
        functions[message](request["count"])
        return {}, ()
    call = Call(request, data)
    found = functions[message](call)
    if message == "accuracy":
        return {"accuracy": found}, ()
    call.write(found)
    if call._shared:
        return {"shared": call._shared, "tensors": _results_in_place(call)}, ()
    tensors, parts = _results(call)
    return {"tensors": tensors}, parts


def serve(description, shared_memory=True, **functions):
    """Answers until the input ends. functions: forward, backward, partial, merge, accuracy,
    set_threads; the description's features must say which of them there are."""
    shared = None
    stdin, stdout = sys.stdin.buffer.raw, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    while (header := _read(stdin, HEADER.size)) is not None:
        letters, line_bytes, data_bytes = HEADER.unpack(header)
        if letters != LETTERS:
            sys.exit(f"a frame begins with ATP1, not with {letters!r}")
        request = json.loads(_read(stdin, line_bytes))
        data = _read(stdin, data_bytes)
        if request.get("shared"):
            data = shared.data(request["shared"])
        reply, parts = {"status": "ok"}, ()
        try:
            if request["message"] == "hello":
                shared = _taken(request) if shared_memory else None
                more = _hello(request, shared)
            else:
                more, parts = _answer(request, data, description, functions)
            reply.update(more)
        except Unsupported as why:
            reply.update(status="unsupported", reason=str(why))
        except AllMaskedRow as row:
            reply.update(status="all_masked_row", reason="a row sees no key", row=list(row.args))
        _send(stdout, {"id": request["id"], **reply}, parts)
        if request["message"] == "bye":
            return
