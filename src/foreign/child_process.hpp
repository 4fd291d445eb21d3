// A program that is started fresh, spoken to in frames over its standard input and output, and
// ended with all that it started.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attest/status.hpp"
#include "foreign/frames.hpp"
#include "foreign/spawn.hpp"

namespace attest::foreign {

/// Bytes of a frame that is sent, where they lie.
struct OutgoingFrame {
  std::string line;                              ///< without its line break
  std::vector<std::span<const std::byte>> data;  ///< one after the other
};

/// How a conversation ended.
struct Ending {
  enum class Kind {
    exited,     ///< `number` is the exit code
    killed,     ///< `number` is the signal
    timed_out,  ///< it gave no answer; it was killed
    garbled,    ///< it broke the protocol; it was killed
  };
  Kind kind = Kind::exited;
  int number = 0;
  std::string why;         ///< of `garbled`: what was wrong; of `timed_out`: what had come
  std::string last_words;  ///< the end of what it wrote to standard error
};

/// "ended with exit code 3", "killed by SIGSEGV", "gave no answer within 60 s", or why.
std::string to_text(const Ending& ending, std::chrono::duration<double> limit);

class ChildProcess {
 public:
  /// The first word is the program, looked for in PATH.
  /// Errors: io_error where it cannot be started.
  static Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& words);

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Closes its input; kills it and what it started unless it ends within a moment.
  ~ChildProcess();

  /// Sends a frame and waits for one, at most `limit` for both. Nothing: the conversation has
  /// ended as `ending` says, and the process with it.
  bool exchange(const OutgoingFrame& request, const FrameLimits& limits,
                std::chrono::duration<double> limit, Frame& reply, Ending& ending);

  /// Whether it is there and says nothing, as between two requests.
  bool idle() const;

 private:
  using Clock = std::chrono::steady_clock;

  ChildProcess() = default;

  enum class Turn { more, done, broken };
  Turn write_some(const std::vector<std::span<const std::byte>>& parts);
  Turn read_some(FrameReader& reader, std::string& why);
  bool bytes_wait() const;
  void hear_errors();
  Ending ended(Ending::Kind kind, std::string why);
  bool reap(Clock::duration patience);
  void kill();

  pid_t process_ = -1;  ///< -1: reaped
  int wait_status_ = 0;
  Descriptor input_, output_, errors_;
  std::size_t part_ = 0;  ///< of the request: what has been sent
  std::size_t sent_of_part_ = 0;
  std::string last_words_;
};

}  // namespace attest::foreign
