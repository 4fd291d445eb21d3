// Other libraries as competitors; which of them this build has, CMake decides
// (bench/CMakeLists.txt).
#pragma once

#include "bench/call.hpp"

namespace attest::bench {

Competitor openblas_products();   ///< the matrix products alone, sgemm
Competitor eigen_materialised();  ///< whole score matrices, Eigen built for this machine
Competitor onednn_attention();    ///< matmul, softmax, matmul, a head at a time

/// The attention operators of ONNX Runtime; `unsupported` where its library cannot be loaded.
Result<Competitor> onnxruntime_attention();

/// Every peer of this build; a line in `absent` for each that it lacks.
std::vector<Competitor> all_peers(std::vector<std::string>& absent);

}  // namespace attest::bench
