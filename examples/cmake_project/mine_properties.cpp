// A property of our own over the problems, values and shrinking of attest. RC_PARAMS is honoured.
#include <attest/rapidcheck.hpp>
#include <vector>

#include "kernel.hpp"
#include "properties/run_kernel.hpp"

int main() {
  const auto kernel = mine::make_kernel();
  const auto cases =
      attest::properties::arbitrary_case(attest::properties::limits_for(*kernel, nullptr));
  const bool holds = rc::check("twice the values give twice the output", [&] {
    attest::properties::Case on = *cases;
    const auto once = attest::properties::run_kernel(*kernel, on);
    RC_PRE(once.status.ok());
    bool exact = true;
    attest::for_each_index(on.problem.v_extents(), [&](auto b, auto h, auto row, auto column) {
      const double value = on.v.get(b, h, row, column);
      // Doubling rounds nothing, unless a number leaves the range of floats.
      exact = exact && value * value < 0x1p+200 && (value == 0 || value * value > 0x1p-100);
      on.v.set(b, h, row, column, 2 * value);
    });
    RC_PRE(exact);
    const auto twice = attest::properties::run_kernel(*kernel, on);
    attest::for_each_index(on.problem.out_extents(), [&](auto b, auto h, auto row, auto column) {
      const double want = 2 * once.out.get(b, h, row, column);
      if (want * want > 0x1p-200) RC_ASSERT(twice.out.get(b, h, row, column) == want);
    });
  });
  return holds ? 0 : 1;
}
