#include "fuzz/planted_undefined.hpp"

#include <limits>

#include "fuzz/planted.hpp"

namespace attest::fuzz {
namespace {

void overflow(const Problem&) {
  volatile int largest = std::numeric_limits<int>::max();
  largest = largest + 1;
}

}  // namespace

std::unique_ptr<Kernel> make_planted_undefined() {
  return make_planted(overflow);
}

}  // namespace attest::fuzz
