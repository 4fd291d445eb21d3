#include "bench/onnxruntime_api.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace attest::bench {
namespace {

namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr const char* kFolder = "linux/arm64";
#else
constexpr const char* kFolder = "linux/x64";
#endif
constexpr std::uint32_t kApiVersion = 1;

/// OrtApiBase
struct Base {
  void* const* (*get_api)(std::uint32_t version);
  const char* (*get_version)();
};

/// What ATTEST_ONNXRUNTIME names, or the library of the npm package onnxruntime-node where
/// `./run bench` puts it.
std::string library_path() {
  if (const char* const named = std::getenv("ATTEST_ONNXRUNTIME")) return named;
  std::error_code ignored;
  for (fs::recursive_directory_iterator at(ATTEST_BENCH_NPM, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    const std::string path = at->path().string();
    if (at->path().filename().string().starts_with("libonnxruntime.so") &&
        path.find(kFolder) != std::string::npos)
      return path;
  }
  return {};
}

}  // namespace

Status OnnxruntimeApi::checked(void* status) const {
  if (status == nullptr) return {};
  const std::string message =
      function<const char*(const void*)>(OrtPlace::get_error_message)(status);
  function<void(void*)>(OrtPlace::release_status)(status);
  return {StatusCode::kernel_failed, "ONNX Runtime: " + message};
}

Result<const OnnxruntimeApi*> OnnxruntimeApi::load() {
  static std::optional<const OnnxruntimeApi> loaded;
  if (loaded) return &*loaded;
  const auto absent = [](std::string why) {
    return Status{StatusCode::unsupported, std::move(why)};
  };
  const std::string path = library_path();
  if (path.empty()) return absent(std::string("no libonnxruntime.so below ") + ATTEST_BENCH_NPM);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absent(dlerror());
  void* const entry = dlsym(library, "OrtGetApiBase");
  if (entry == nullptr) return absent(path + " has no OrtGetApiBase");
  const Base* const base = reinterpret_cast<const Base* (*)()>(entry)();
  void* const* const table = base->get_api(kApiVersion);
  if (table == nullptr) return absent(path + " has no version 1 of its API");
  return &loaded.emplace(OnnxruntimeApi(table, base->get_version()));
}

}  // namespace attest::bench
