#include "foreign/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace attest::foreign {
namespace {

/// Fewer turns for large tensors; the system may give less.
constexpr int kPipeBytes = 1 << 18;

Status cannot(const std::string& what, int error) {
  return {StatusCode::io_error, "cannot " + what + ": " + std::strerror(error)};
}

/// How a process is started: its three streams, a group of its own, the usual signals.
class SpawnRecipe {
 public:
  SpawnRecipe(const Descriptor& in, const Descriptor& out, const Descriptor& errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, in.number(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, out.number(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors.number(), STDERR_FILENO);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t all;
    ::sigfillset(&all);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnRecipe(const SpawnRecipe&) = delete;
  SpawnRecipe& operator=(const SpawnRecipe&) = delete;
  ~SpawnRecipe() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  int start(const std::vector<std::string>& words, pid_t& process) const {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    return ::posix_spawnp(&process, arguments.front(), &actions_, &attributes_, arguments.data(),
                          environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

Descriptor::~Descriptor() {
  close();
}

void Descriptor::close() {
  if (open()) ::close(std::exchange(number_, -1));
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot("make a pipe", errno);
  ::fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Result<pid_t> spawn(const std::vector<std::string>& words, const Descriptor& in,
                    const Descriptor& out, const Descriptor& errors) {
  pid_t process = -1;
  if (const int error = SpawnRecipe(in, out, errors).start(words, process); error != 0)
    return cannot("start " + words.front(), error);
  return process;
}

}  // namespace attest::foreign
