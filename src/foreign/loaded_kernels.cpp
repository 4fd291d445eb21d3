#include "foreign/loaded_kernels.hpp"

#include <map>
#include <memory>
#include <mutex>

#include "foreign/plugin.hpp"

namespace attest::foreign {

Result<const Kernel*> loaded_kernel(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Kernel>> kernels;
  const std::scoped_lock lock(mutex);
  if (const auto found = kernels.find(name); found != kernels.end()) return found->second.get();
  Result<std::unique_ptr<Kernel>> opened = open_plugin(name);
  if (!opened.ok()) return opened.status();
  return kernels.emplace(name, std::move(opened).value()).first->second.get();
}

}  // namespace attest::foreign
