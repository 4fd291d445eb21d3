#include "fuzz/planted_overrun.hpp"

#include <vector>

#include "fuzz/planted.hpp"

namespace attest::fuzz {
namespace {

void read_behind_the_end(const Problem& problem) {
  const std::vector<float> scratch(static_cast<std::size_t>(problem.seq_kv));
  const volatile float* const end = scratch.data() + scratch.size();
  static_cast<void>(*end);
}

}  // namespace

std::unique_ptr<Kernel> make_planted_overrun() {
  return make_planted(read_behind_the_end);
}

}  // namespace attest::fuzz
