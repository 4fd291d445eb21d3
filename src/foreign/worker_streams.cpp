#include "foreign/worker_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace attest::foreign {
namespace {

Status cannot(const char* what) {
  return {StatusCode::io_error, std::string("cannot ") + what + ": " + std::strerror(errno)};
}

}  // namespace

Result<WorkerStreams> WorkerStreams::take_over() {
  WorkerStreams streams;
  streams.input_ = Descriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kFirstOwn));
  streams.output_ = Descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kFirstOwn));
  if (!streams.input_.open() || !streams.output_.open()) return cannot("keep the protocol apart");
  std::array<int, 2> ends{};
  // Whoever prints without end is refused, and neither blocks nor fills the memory.
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return cannot("make a pipe");
  const Descriptor printed(ends[1]);
  const Descriptor read_end(ends[0]);
  streams.caught_ = Descriptor(::fcntl(read_end.number(), F_DUPFD_CLOEXEC, kFirstOwn));
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!streams.caught_.open() || !nothing.open() || ::dup2(nothing.number(), STDIN_FILENO) < 0 ||
      ::dup2(printed.number(), STDOUT_FILENO) < 0)
    return cannot("replace the standard streams");
  return streams;
}

std::string WorkerStreams::printed() const {
  std::fflush(stdout);
  std::clearerr(stdout);
  std::string first;
  std::size_t count = 0;
  std::array<char, 4096> some{};
  while (true) {
    const ssize_t got = ::read(caught_.number(), some.data(), some.size());
    if (got <= 0) break;
    if (first.empty()) first.assign(some.data(), static_cast<std::size_t>(got));
    count += static_cast<std::size_t>(got);
  }
  if (count == 0) return {};
  return "printed " + std::to_string(count) + (count == 1 ? " byte" : " bytes") +
         " on standard output: " + in_quotes(std::string_view(first).substr(0, 60));
}

}  // namespace attest::foreign
