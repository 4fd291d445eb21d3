#!/bin/bash -eu
# Builds every fuzz target in the form of OSS-Fuzz and ClusterFuzzLite: into $OUT, with $CXX,
# $CXXFLAGS and $LIB_FUZZING_ENGINE, which bring the sanitizers and the engine.
# Beside a target lie its options, dictionary and seeds; $OUT/lib has the libraries that the machine
# which runs the targets lacks. With arguments only these targets.
cd "$(dirname "$0")/.."
: "${OUT:?}" "${CXX:?}" "${LIB_FUZZING_ENGINE:?}"
build=${WORK:-$PWD/build}/oss_fuzz

# shellcheck disable=SC2016 # the loader replaces $ORIGIN
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="${CXXFLAGS-}" \
  -DATTEST_TESTS=OFF -DATTEST_WERROR=OFF -DATTEST_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
  -DCMAKE_BUILD_RPATH='$ORIGIN/lib' --log-level=WARNING

targets=("$@")
if [ $# -eq 0 ]; then
  for source in fuzz/fuzz_*.cpp; do targets+=("$(basename "$source" .cpp)"); done
fi
ninja -C "$build" "${targets[@]}"

mkdir -p "$OUT/lib"
cp fuzz/*.dict "$OUT"
for target in "${targets[@]}"; do
  cp "$build/fuzz/$target" "$OUT"
  if [ -f "fuzz/$target.options" ]; then cp "fuzz/$target.options" "$OUT"; fi
  if [ -d "fuzz/corpus/$target" ]; then
    (cd "fuzz/corpus/$target" && cmake -E tar cf "$OUT/${target}_seed_corpus.zip" --format=zip .)
  fi
  # Not the C and C++ runtimes: those of the machine that runs the target fit its loader.
  ldd "$OUT/$target" | awk '$3 ~ /^\// { print $3 }' |
    grep -Ev '/lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+)\.so' | xargs -r -I{} cp -L {} "$OUT/lib"
done
