#include "bench/competitors.hpp"

#include "bench/kernel_calls.hpp"
#include "bench/limits.hpp"
#include "kernels/registry.hpp"

namespace attest::bench {

Result<std::vector<const Kernel*>> kernels_named(const std::vector<std::string>& names) {
  std::vector<const Kernel*> found;
  for (const std::string& name : names) {
    const std::size_t before = found.size();
    for (const auto& kernel : kernels::builtin_kernels()) {
      const std::string& own = kernel->description().name;
      if (own == name || own.starts_with(name + "/")) found.push_back(kernel.get());
    }
    if (found.size() == before) return invalid_argument("there is no kernel " + name);
  }
  return found;
}

std::vector<Competitor> competitors(const Field& field, const Workload& workload) {
  std::vector<Competitor> all;
  all.push_back(workload.unit == Unit::gflops ? fma_peak(1) : read_peak());
  const bool threaded = workload.threads > 1;
  if (threaded) all.push_back(fma_peak(workload.threads));
  for (const Competitor& peer : field.peers)
    if (!threaded) all.push_back(peer);
  for (const Kernel* const kernel : field.kernels) {
    if (workload.beside_dense) all.push_back(dense_kernel_competitor(*kernel));
    all.push_back(kernel_competitor(*kernel, 1));
    if (threaded && can_set_threads()) all.push_back(kernel_competitor(*kernel, workload.threads));
  }
  return all;
}

}  // namespace attest::bench
