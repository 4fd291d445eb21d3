#include "bench/peers.hpp"

namespace attest::bench {

std::vector<Competitor> all_peers(std::vector<std::string>& absent) {
  std::vector<Competitor> peers;
#if ATTEST_BENCH_OPENBLAS
  peers.push_back(openblas_products());
#else
  absent.emplace_back("OpenBLAS: not found by CMake (Debian: libopenblas-dev)");
#endif
  peers.push_back(eigen_materialised());
#if ATTEST_BENCH_ONEDNN
  peers.push_back(onednn_attention());
#else
  absent.emplace_back("oneDNN: not found by CMake (Debian: libdnnl-dev)");
#endif
  auto onnxruntime = onnxruntime_attention();
  if (onnxruntime.ok())
    peers.push_back(std::move(onnxruntime.value()));
  else
    absent.push_back("ONNX Runtime: " + onnxruntime.status().message() +
                     " (npm: onnxruntime-node)");
  return peers;
}

}  // namespace attest::bench
