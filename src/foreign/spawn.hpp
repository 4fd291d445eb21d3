// Pipes, and processes that are started fresh.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "attest/status.hpp"

namespace attest::foreign {

/// Descriptors that foreign code in the same process shall not close begin here, above the numbers
/// that programs use by habit.
inline constexpr int kFirstOwn = 100;

/// A file descriptor that is closed once.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close();

 private:
  int number_;
};

struct Pipe {
  Descriptor read, write;
};

/// Neither end goes to processes that are started. Errors: io_error.
Result<Pipe> make_pipe();

/// Starts a program with these three streams, in a process group of its own, with the usual
/// signals. The first word is the program, looked for in PATH. Errors: io_error.
Result<pid_t> spawn(const std::vector<std::string>& words, const Descriptor& in,
                    const Descriptor& out, const Descriptor& errors);

}  // namespace attest::foreign
