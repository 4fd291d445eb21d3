#include <cmath>

#include "reference/interval.hpp"
#include "reference/oracle.hpp"

namespace attest::reference {

Enclosure in_base_two(const Enclosure& natural) {
  free_cache_at_thread_end();
  if (std::isinf(natural.high)) return natural;
  using Number = Interval<192>;
  Number around;
  mpfr_set_d(around.lower(), -natural.radius, MPFR_RNDN);  // exact
  mpfr_set_d(around.upper(), natural.radius, MPFR_RNDN);
  const Number value = Number(natural.high) + Number(natural.low) + around;
  return to_enclosure<192>(value / log(Number(2)));
}

}  // namespace attest::reference
