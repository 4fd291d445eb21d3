// Times of several calls, taken in turns.
#pragma once

#include <span>
#include <vector>

#include "bench/call.hpp"

namespace attest::bench {

/// Seconds of one call, as the average over one repetition.
struct Repetition {
  double wall = 0;
  double cpu = 0;  ///< of the calling thread
};

struct Effort {
  double seconds = 1;  ///< for each call, all repetitions together
  int repetitions = 11;
};

/// Runs every call a number of times, one repetition of each in turn, so that whatever else the
/// machine does meets all of them alike. A call that is far too slow gets fewer repetitions, one at
/// least. Precondition: each call has been run once.
std::vector<std::vector<Repetition>> measure_in_turns(std::span<Call* const> calls,
                                                      const Effort& effort);

struct Quartiles {
  double low = 0;
  double median = 0;
  double high = 0;
  double least = 0;
};
/// Precondition: there is one number at least.
Quartiles quartiles(std::vector<double> numbers);

}  // namespace attest::bench
