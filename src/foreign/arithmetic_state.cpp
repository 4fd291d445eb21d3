#include "foreign/arithmetic_state.hpp"

namespace attest::foreign {
namespace {

// glibc's fenv_t holds the whole register: MXCSR (Intel SDM volume 1, 10.2.3) or FPCR (Arm ARM,
// C5.2.8).
#if defined(__x86_64__)
constexpr unsigned kFlushResults = 1U << 15;
constexpr unsigned kFlushInputs = 1U << 6;
constexpr unsigned kRounding = 3U << 13;
unsigned control(const std::fenv_t& environment) {
  return environment.__mxcsr;
}
#elif defined(__aarch64__)
constexpr unsigned kFlushResults = 1U << 24;
constexpr unsigned kFlushInputs = 1U << 24;
constexpr unsigned kRounding = 3U << 22;
unsigned control(const std::fenv_t& environment) {
  return environment.__fpcr;
}
#else
constexpr unsigned kFlushResults = 0;
constexpr unsigned kFlushInputs = 0;
constexpr unsigned kRounding = 0;
unsigned control(const std::fenv_t&) {
  return 0;
}
#endif

std::string switched(bool before, bool after, const std::string& what) {
  if (before == after) return {};
  return (after ? "left " + what + " on" : "left " + what + " off");
}

}  // namespace

ArithmeticState ArithmeticState::now() {
  ArithmeticState state;
  std::fegetenv(&state.environment_);
  state.mode_ = std::fegetround();
  // x87's fegetenv masks all exceptions; that is undone at once.
  std::fesetenv(&state.environment_);
  return state;
}

void ArithmeticState::restore() const {
  std::fesetenv(&environment_);
}

bool ArithmeticState::flushes_results() const {
  return (control(environment_) & kFlushResults) != 0;
}
bool ArithmeticState::flushes_inputs() const {
  return (control(environment_) & kFlushInputs) != 0;
}
unsigned ArithmeticState::rounding() const {
  return control(environment_) & kRounding;
}

std::string ArithmeticState::changes_in(const ArithmeticState& later) const {
  if (mode_ != later.mode_ || rounding() != later.rounding())
    return "left the rounding mode changed";
  const std::string results = switched(flushes_results(), later.flushes_results(), "flush-to-zero");
  return results.empty() ? switched(flushes_inputs(), later.flushes_inputs(), "denormals-are-zero")
                         : results;
}

}  // namespace attest::foreign
