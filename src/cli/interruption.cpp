#include "cli/interruption.hpp"

#include <csignal>

namespace attest::cli {
namespace {

std::atomic<bool> interrupted{false};

extern "C" void on_interrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& watch_for_interruption() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  return interrupted;
}

}  // namespace attest::cli
