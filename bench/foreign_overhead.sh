#!/bin/sh -eu
# What workers and pipes cost: bench/foreign_overhead.sh BUILD [ROUNDS], with the examples as kernels.
here=$(cd "$(dirname "$0")/.." && pwd)
build=$1
python=python3
"$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
examples=$here/examples/pipe_numpy
exec "$build/bench/foreign_overhead" "$build/attest" "$build/examples/libplugin_cpp.so" \
  "$python $examples/attention.py" \
  "PYTHONPATH=$examples $python $here/bench/pipe_nothing.py" "${2-15}"
