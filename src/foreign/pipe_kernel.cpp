#include "foreign/pipe_kernel.hpp"

#include "foreign/plugin.hpp"
#include "foreign/worker.hpp"

namespace attest::foreign {
namespace {

constexpr std::size_t kShownName = 400;

Result<std::unique_ptr<Kernel>> open(std::string name, Peer peer, const CallLimits& limits) {
  const auto refused = [&](const Status& status) {
    return cannot_use(one_line(name.c_str(), name.size(), kShownName), status);
  };
  Result<std::unique_ptr<PipeCalls>> calls = PipeCalls::open(std::move(peer), limits);
  if (!calls.ok()) return refused(calls.status());
  const attest_description says = calls.value()->description().with_accuracy();
  Result<Described> described = read_description(&says);
  if (!described.ok()) return refused(described.status());
  return make_foreign_kernel(std::move(name), std::move(calls).value(),
                             std::move(described).value());
}

}  // namespace

Result<std::unique_ptr<Kernel>> open_pipe(const std::string& command, const CallLimits& limits) {
  Peer peer;
  // Limits cannot be set by posix_spawn; the shell sets them and becomes the command's shell.
  if (limits.memory_mib > 0)
    peer.words = {"/bin/sh",
                  "-c",
                  "ulimit -d \"$1\" && exec /bin/sh -c \"$2\"",
                  "attest",
                  std::to_string(limits.memory_mib * 1024),
                  command};
  else
    peer.words = {"/bin/sh", "-c", command};
  return open("pipe:" + command, std::move(peer), limits);
}

Result<std::unique_ptr<Kernel>> open_in_worker(const std::string& program,
                                               const std::string& plugin,
                                               const CallLimits& limits) {
  Peer peer;
  peer.is_worker = true;
  peer.words = {program,
                "worker",
                plugin,
                "--mem-limit",
                std::to_string(limits.memory_mib),
                "--case-timeout",
                std::to_string(limits.time.count())};
  return open(plugin, std::move(peer), limits);
}

}  // namespace attest::foreign
