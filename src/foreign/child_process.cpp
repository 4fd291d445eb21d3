#include "foreign/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

namespace attest::foreign {
namespace {

/// The end of standard error that is kept.
constexpr std::size_t kLastWords = 2048;
/// For a program that has closed its output, or was told to end.
constexpr std::chrono::milliseconds kMoment{500};

void never_block(const Descriptor& descriptor) {
  ::fcntl(descriptor.number(), F_SETFL, ::fcntl(descriptor.number(), F_GETFL) | O_NONBLOCK);
}

/// While it lives, a write of this thread into a closed pipe is an error and no signal.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;
  ~WithoutPipeSignal() {
    if (::sigismember(&before_, SIGPIPE) == 0) {
      const timespec now{};
      while (::sigtimedwait(&pipe_, nullptr, &now) > 0) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

int milliseconds_until(std::chrono::steady_clock::time_point end) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
}

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

std::string seconds_text(std::chrono::duration<double> limit) {
  std::string text = std::to_string(limit.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

}  // namespace

std::string to_text(const Ending& ending, std::chrono::duration<double> limit) {
  switch (ending.kind) {
    case Ending::Kind::exited:
      return "ended with exit code " + std::to_string(ending.number);
    case Ending::Kind::killed:
      return "killed by " + signal_name(ending.number) +
             (ending.number == SIGKILL ? " (the system may have run out of memory)" : "");
    case Ending::Kind::timed_out:
      return "gave no answer within " + seconds_text(limit) + ending.why;
    case Ending::Kind::garbled:
      break;
  }
  return "broke the pipe protocol: " + ending.why;
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& words) {
  Result<Pipe> in = make_pipe();
  Result<Pipe> out = make_pipe();
  Result<Pipe> errors = make_pipe();
  for (const auto* const pipe : {&in, &out, &errors})
    if (!pipe->ok()) return pipe->status();
  std::unique_ptr<ChildProcess> child(new ChildProcess);
  const Result<pid_t> process =
      spawn(words, in.value().read, out.value().write, errors.value().write);
  if (!process.ok()) return process.status();
  child->process_ = process.value();
  child->input_ = std::move(in.value().write);
  child->output_ = std::move(out.value().read);
  child->errors_ = std::move(errors.value().read);
  for (const Descriptor* const own : {&child->input_, &child->output_, &child->errors_})
    never_block(*own);
  return child;
}

ChildProcess::~ChildProcess() {
  input_.close();
  if (process_ > 0 && !reap(kMoment)) kill();
}

bool ChildProcess::exchange(const OutgoingFrame& request, const FrameLimits& limits,
                            std::chrono::duration<double> limit, Frame& reply, Ending& ending) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  const std::string line = request.line + "\n";
  std::size_t data_bytes = 0;
  for (const auto& part : request.data) data_bytes += part.size();
  const auto header = frame_header(static_cast<std::uint32_t>(line.size()), data_bytes);
  std::vector<std::span<const std::byte>> parts{header, std::as_bytes(std::span(line))};
  parts.insert(parts.end(), request.data.begin(), request.data.end());
  part_ = 0;
  sent_of_part_ = 0;
  FrameReader reader(limits);
  bool sending = true;
  while (!reader.complete()) {
    std::array<pollfd, 3> watched{pollfd{output_.number(), POLLIN, 0},
                                  pollfd{errors_.number(), POLLIN, 0},
                                  pollfd{sending ? input_.number() : -1, POLLOUT, 0}};
    if (Clock::now() >= end) {
      ending = ended(Ending::Kind::timed_out, reader.begun() ? ", only a part of it" : "");
      return false;
    }
    if (::poll(watched.data(), watched.size(), milliseconds_until(end)) < 0 && errno != EINTR) {
      ending = ended(Ending::Kind::garbled, std::strerror(errno));
      return false;
    }
    if (watched[1].revents != 0) hear_errors();
    if (watched[2].revents != 0) sending = write_some(parts) == Turn::more;
    if (watched[0].revents == 0) continue;
    std::string why;
    if (read_some(reader, why) != Turn::broken) continue;
    // Its input is closed before its end where it never read the whole request.
    ending = why.empty() ? ended(Ending::Kind::exited, {})
                         : ended(Ending::Kind::garbled, std::move(why));
    return false;
  }
  if (bytes_wait()) {
    ending = ended(Ending::Kind::garbled, "more bytes follow its frame than the frame says");
    return false;
  }
  reply = std::move(reader).frame();
  return true;
}

bool ChildProcess::bytes_wait() const {
  pollfd watched{output_.number(), POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0 && (watched.revents & POLLIN) != 0;
}

bool ChildProcess::idle() const {
  pollfd watched{output_.number(), POLLIN, 0};
  return ::poll(&watched, 1, 0) == 0;
}

ChildProcess::Turn ChildProcess::write_some(const std::vector<std::span<const std::byte>>& parts) {
  const WithoutPipeSignal quiet;
  for (; part_ < parts.size(); ++part_, sent_of_part_ = 0) {
    const auto rest = parts[part_].subspan(sent_of_part_);
    if (rest.empty()) continue;
    const ssize_t wrote = ::write(input_.number(), rest.data(), rest.size());
    // Whoever does not read any more says more by how it ends.
    if (wrote < 0) return errno == EAGAIN || errno == EINTR ? Turn::more : Turn::broken;
    if (static_cast<std::size_t>(wrote) == rest.size()) continue;
    sent_of_part_ += static_cast<std::size_t>(wrote);
    return Turn::more;
  }
  return Turn::done;
}

ChildProcess::Turn ChildProcess::read_some(FrameReader& reader, std::string& why) {
  while (!reader.complete()) {
    const auto room = reader.room();
    const ssize_t got = ::read(output_.number(), room.data(), room.size());
    if (got < 0) return errno == EAGAIN || errno == EINTR ? Turn::more : Turn::broken;
    if (got == 0) return Turn::broken;
    if (const Status status = reader.take(static_cast<std::size_t>(got)); !status.ok()) {
      why = status.message();
      return Turn::broken;
    }
  }
  return Turn::done;
}

void ChildProcess::hear_errors() {
  std::array<char, 4096> some{};
  while (true) {
    const ssize_t got = errors_.open() ? ::read(errors_.number(), some.data(), some.size()) : 0;
    if (got > 0) {
      last_words_.append(some.data(), static_cast<std::size_t>(got));
      if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
      continue;
    }
    if (got == 0) errors_.close();
    return;
  }
}

Ending ChildProcess::ended(Ending::Kind kind, std::string why) {
  // A program that ends by itself is waited for, so that its exit code is known.
  if (kind != Ending::Kind::exited || !reap(kMoment)) {
    if (kind == Ending::Kind::exited) {
      kind = Ending::Kind::garbled;
      why = "it closed its standard output, and went on";
    }
    kill();
  }
  hear_errors();
  Ending ending{kind, 0, std::move(why), std::move(last_words_)};
  if (kind != Ending::Kind::exited) return ending;
  if (WIFSIGNALED(wait_status_)) {
    ending.kind = Ending::Kind::killed;
    ending.number = WTERMSIG(wait_status_);
  } else {
    ending.number = WEXITSTATUS(wait_status_);
  }
  return ending;
}

bool ChildProcess::reap(Clock::duration patience) {
  const auto end = Clock::now() + patience;
  const auto id = static_cast<id_t>(process_);
  while (process_ > 0) {
    siginfo_t found{};
    // It is left a zombie until its group is dead: its number is nobody else's until then.
    if (::waitid(P_PID, id, &found, WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_pid != 0) {
      kill();
      return true;
    }
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void ChildProcess::kill() {
  if (process_ <= 0) return;
  ::kill(-process_, SIGKILL);
  while (::waitpid(process_, &wait_status_, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

}  // namespace attest::foreign
