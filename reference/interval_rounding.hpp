// Every place where the oracle rounds outward, and the policy that says which way it does.
//
// No other file of the oracle names a direction. The tests plant one inward rounding at a time, by
// a policy of their own, and see that the enclosures then miss the truth.
#pragma once

#include <mpfr.h>

#include <limits>

namespace attest::reference {

/// Where a bound is rounded; `lower` and `upper` are the ends of an interval.
enum class Site {
  add_lower,
  add_upper,
  subtract_lower,
  subtract_upper,
  multiply_lower,
  multiply_upper,
  divide_lower,
  divide_upper,
  exp_lower,
  exp_upper,
  log_lower,
  log_upper,
  tanh_lower,
  tanh_upper,
  point_sum_lower,    ///< a sum of exact products, as in a dot product
  point_sum_upper,    ///<
  product_lower,      ///< a weight times a value
  product_upper,      ///<
  product_sum_lower,  ///< the sum of those
  product_sum_upper,  ///<
  gap_above,          ///< from the nearest pair of doubles to the upper end
  gap_below,          ///< and to the lower end
  radius,             ///< that distance as a double
  upper_double,       ///< the upper end as a double
  score_radius,       ///< what the nearest double of a score leaves out
  double_sum,         ///< a sum of products formed in double: its roundings
  double_underflow,   ///< and its products that underflow
  count,              ///< no site: how many there are
};

/// The rounding of the oracle.
struct Outward {
  static constexpr bool inward(Site /*site*/) { return false; }
};

template <class Rounding>
constexpr mpfr_rnd_t downward(Site site) {
  return Rounding::inward(site) ? MPFR_RNDU : MPFR_RNDD;
}
template <class Rounding>
constexpr mpfr_rnd_t upward(Site site) {
  return Rounding::inward(site) ? MPFR_RNDD : MPFR_RNDU;
}
/// The sign of a slack that a bound in double is widened by.
template <class Rounding>
constexpr double outward(Site site) {
  return Rounding::inward(site) ? -1.0 : 1.0;
}

/// MPFR keeps constants such as ln 2 per thread; a thread that ends gives them back.
inline void free_cache_at_thread_end() {
  struct Cache {
    Cache() = default;
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;
    ~Cache() { mpfr_free_cache(); }
  };
  thread_local const Cache cache;
}

/// One MPFR number that is freed at the end of its life.
class Scratch {
 public:
  explicit Scratch(mpfr_prec_t bits) { mpfr_init2(number_, bits); }
  Scratch(const Scratch& other) : Scratch(mpfr_get_prec(other.number_)) {
    mpfr_set(number_, other.number_, MPFR_RNDN);  // exact: the same precision
  }
  Scratch(Scratch&& other) noexcept : Scratch(MPFR_PREC_MIN) { mpfr_swap(number_, other.number_); }
  Scratch& operator=(Scratch other) noexcept {
    mpfr_swap(number_, other.number_);
    return *this;
  }
  ~Scratch() { mpfr_clear(number_); }

  mpfr_ptr get() { return number_; }
  mpfr_srcptr get() const { return number_; }

 private:
  mpfr_t number_;
};

}  // namespace attest::reference
