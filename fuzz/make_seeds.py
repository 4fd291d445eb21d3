#!/usr/bin/env python3
"""Writes the seed inputs of the law targets: the short lines of properties/hard_cases.txt, and a few
rows and keys of the real tensors as literal numbers.

    fuzz/make_seeds.py FOLDER          makes FOLDER/fuzz_laws, FOLDER/fuzz_merge, FOLDER/fuzz_backward

The corpus that is committed is what `fuzz_NAME -merge=1 fuzz/corpus/fuzz_NAME FOLDER/fuzz_NAME` kept
of them, so that every file reaches code that no other one reaches."""
import hashlib
import json
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 400


def hard_lines():
    for line in (ROOT / "properties/hard_cases.txt").read_text().splitlines():
        problem = line.split("#")[0].strip()
        if problem and len(problem) <= LONGEST and "real:" not in problem:
            yield problem


def shortest(bits):
    """The shortest decimal that reads back to the same f32 number."""
    value = struct.unpack("<f", bits)[0]
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("<f", float(text)) == bits:
            return text
    raise ValueError(value)


def widened(entry, data, element):
    """The bits of an element as f32."""
    begin = entry["data_offsets"][0]
    if entry["dtype"] == "F32":
        return data[begin + 4 * element : begin + 4 * element + 4]
    if entry["dtype"] == "BF16":
        return b"\0\0" + data[begin + 2 * element : begin + 2 * element + 2]
    if entry["dtype"] == "F16":
        half = struct.unpack("<e", data[begin + 2 * element : begin + 2 * element + 2])[0]
        return struct.pack("<f", half)
    raise ValueError(entry["dtype"])


def rows_of(entry):
    return entry["shape"][1 if len(entry["shape"]) == 4 else 0]


def literal(entry, data, first, rows, columns):
    """Rows from `first` on of member 0 and head 0: (row, column) or (batch, row, head, column)."""
    shape = entry["shape"]
    heads, width = (shape[2] if len(shape) == 4 else 1), shape[-1]
    return ",".join(
        shortest(widened(entry, data, (first + row) * heads * width + column))
        for row in range(rows)
        for column in range(columns)
    )


def real_lines():
    for path in sorted((ROOT / "data/real").glob("*.safetensors")):
        content = path.read_bytes()
        size = struct.unpack("<Q", content[:8])[0]
        header, data = json.loads(content[8 : 8 + size]), content[8 + size :]
        # The first rows of a text, and some from its middle.
        for first in (0, rows_of(header["k"]) // 2):
            queries, keys, columns = 2, 5, 3
            q, k, v = (
                literal(header[name], data, first, rows, columns)
                for name, rows in (("q", queries), ("k", keys), ("v", keys))
            )
            yield f"1x1:{queries}x{keys}:{columns} f32", f"vals=lit:{q};{k};{v}"


def seeds():
    for line in hard_lines():
        yield ("fuzz_backward" if "bwd=" in line else "fuzz_laws"), line
        if "bwd=" not in line and ("split=" in line or "tile=" in line):
            yield "fuzz_merge", line
    for shape, values in real_lines():
        yield "fuzz_laws", f"{shape} mask=causal:br lse=ln tile=2 {values}"
        yield "fuzz_merge", f"{shape} lse=ln tile=1 split=3 merge=balanced {values}"
        ones = values + ";dout=" + ",".join(["1"] * 6)
        yield "fuzz_backward", f"{shape} lse=ln bwd=dq,dk,dv tile=2 {ones}"


def main():
    folder = pathlib.Path(sys.argv[1])
    for target, line in seeds():
        path = folder / target / hashlib.sha1(line.encode()).hexdigest()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
