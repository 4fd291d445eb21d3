#include "foreign/fault_report.hpp"

#include <fcntl.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

namespace attest::foreign {
namespace {

// What a signal handler may look at.
std::atomic<const std::vector<GuardedTensor>*> watched{nullptr};
std::atomic<std::size_t> limit{0};
alignas(16) std::array<char, std::size_t{64} << 10> handler_stack;

/// A line put together without memory of its own.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t count = std::min(text.size(), text_.size() - used_);
    std::memcpy(text_.data() + used_, text.data(), count);
    used_ += count;
    return *this;
  }
  Line& operator<<(std::size_t number) {
    std::array<char, 24> digits{};
    std::size_t at = digits.size();
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return *this << std::string_view(digits.data() + at, digits.size() - at);
  }
  void write() {
    *this << "\n";
    if (::write(STDERR_FILENO, text_.data(), used_) < 0) return;  // nobody is left to be told
  }

 private:
  std::array<char, 400> text_{};
  std::size_t used_ = 0;
};

bool was_write([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  // Bit 1 of the error code of a page fault (Intel SDM volume 3, 4.7).
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  return true;
#endif
}

/// Bytes of data of this process; 0 where the system does not tell.
std::size_t data_bytes() {
  std::array<char, 256> text{};
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  std::size_t field = 0;
  std::size_t pages = 0;
  for (ssize_t i = 0; i < got; ++i) {
    const char c = text[static_cast<std::size_t>(i)];
    if (c == ' ')
      ++field;
    else if (field == 5 && c >= '0' && c <= '9')  // data and stack
      pages = 10 * pages + static_cast<std::size_t>(c - '0');
  }
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

bool memory_is_used_up() {
  const std::size_t most = limit;
  return most != 0 && data_bytes() > most - most / 8;
}

void explain(const GuardedTensor& tensor, const void* address, bool wrote) {
  Line line;
  line << kContractMark;
  const Beside side = tensor.block.side_of(address);
  if (side == Beside::inside && wrote && tensor.is_input)
    line << "changed " << tensor.name << ", an input";
  else if (side == Beside::inside)
    line << (wrote ? "wrote " : "read ") << "between the elements of " << tensor.name;
  else
    line << (wrote ? "wrote " : "read ") << side_text(side) << tensor.name;
  line.write();
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto* const tensors = watched.load();
  const GuardedTensor* owner = nullptr;
  if (tensors != nullptr)
    for (const GuardedTensor& tensor : *tensors)
      if (tensor.block.owns(info->si_addr)) owner = &tensor;
  if (owner != nullptr) {
    explain(*owner, info->si_addr, was_write(context));
  } else if (memory_is_used_up()) {
    Line line;
    line << kFaultMark << "out of memory (limit " << (limit.load() >> 20) << " MiB)";
    line.write();
  }
  // The same access again, now without this handler: the process ends by its true signal. One
  // that somebody sent is sent again.
  ::signal(signal, SIG_DFL);
  if (info->si_code <= 0) ::raise(signal);
}

void on_refused_memory() {
  Line line;
  line << kFaultMark << "out of memory (limit " << (limit.load() >> 20) << " MiB)";
  line.write();
  throw std::bad_alloc();
}

}  // namespace

std::string_view side_text(Beside side) {
  switch (side) {
    case Beside::before:
      return "before the beginning of ";
    case Beside::behind:
      return "past the end of ";
    case Beside::inside:
      break;
  }
  return "inside ";
}

void report_faults(std::size_t memory_limit) {
  limit = memory_limit;
  if (memory_limit != 0) std::set_new_handler(on_refused_memory);
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS}) ::sigaction(signal, &action, nullptr);
}

WatchedTensors::WatchedTensors(const std::vector<GuardedTensor>& tensors) {
  watched = &tensors;
}

WatchedTensors::~WatchedTensors() {
  watched = nullptr;
}

}  // namespace attest::foreign
