// Errors of what was timed, as shares of the proven bound.
//
// A subject is held to the accuracy that it declares. Other libraries declare none; they are
// compared with the bound of plain f32 arithmetic (one rounding an operation, exp within 1 ulp,
// sums in any order), which they may exceed without being wrong.
#pragma once

#include <vector>

#include "bench/call.hpp"

namespace attest::bench {

/// An output or gradients under judgement; `worst` grows to the largest error / bound seen, and
/// becomes infinite where there is no bound and NaN where a number is none.
struct Judged {
  const Competitor* competitor = nullptr;
  Call* call = nullptr;
  double worst = 0;
};

/// Every row of a forward call: for small problems. Calls must have been run.
void judge_all_rows(const Workload& workload, const Inputs& inputs, std::vector<Judged>& judged);

/// First and last row and some between them: for the problem that is timed.
void judge_some_rows(const Workload& workload, const Inputs& inputs, std::vector<Judged>& judged);

/// Every gradient of the first kv head.
void judge_gradients(const Workload& workload, const Inputs& inputs, std::vector<Judged>& judged);

}  // namespace attest::bench
