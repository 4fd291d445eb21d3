#include "foreign/loaded_kernels.hpp"

#include <map>
#include <memory>
#include <mutex>

#include "foreign/pipe_kernel.hpp"
#include "foreign/plugin.hpp"

namespace attest::foreign {
namespace {

constexpr std::string_view kPipe = "pipe:";

struct Kernels {
  std::mutex mutex;
  Isolation isolation;
  std::map<std::string, std::unique_ptr<Kernel>> opened;
};

Kernels& kernels() {
  static Kernels all;
  return all;
}

Result<std::unique_ptr<Kernel>> open(const std::string& name, const Isolation& isolation) {
  if (name.starts_with(kPipe)) return open_pipe(name.substr(kPipe.size()), isolation.limits);
  if (isolation.in_workers) return open_in_worker(isolation.program, name, isolation.limits);
  return open_plugin(name);
}

}  // namespace

void set_isolation(const Isolation& isolation) {
  const std::scoped_lock lock(kernels().mutex);
  kernels().isolation = isolation;
}

bool names_foreign_kernel(std::string_view name) {
  return name.starts_with(kPipe) || names_plugin(name);
}

Result<const Kernel*> loaded_kernel(const std::string& name) {
  Kernels& all = kernels();
  const std::scoped_lock lock(all.mutex);
  if (const auto found = all.opened.find(name); found != all.opened.end())
    return found->second.get();
  Result<std::unique_ptr<Kernel>> kernel = open(name, all.isolation);
  if (!kernel.ok()) return kernel.status();
  return all.opened.emplace(name, std::move(kernel).value()).first->second.get();
}

}  // namespace attest::foreign
