// Attention through whole score matrices in Eigen, built for the machine of the build.
//
// A shared library with hidden symbols: Eigen's inline functions must not be mixed up with those
// of the same names that other parts of the program compile for the baseline instruction set.
#pragma once

namespace attest::bench {

struct NativeHead {
  long queries, keys, head_dim;
  float scale;
  bool causal;
  const float* q;
  const float* k;
  const float* v;
  float* scores;  ///< queries x keys
  float* out;
};

[[gnu::visibility("default")]] void eigen_native_head(const NativeHead& head);

}  // namespace attest::bench
