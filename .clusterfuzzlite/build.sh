#!/bin/bash -eu
exec "$SRC/attest/fuzz/build.sh"
