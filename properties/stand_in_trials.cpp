#include "properties/stand_in_trials.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attest/element.hpp"

namespace attest::properties {

void StandInTrials::compare(Seen& seen, const reference::CertifiedRow& exact,
                            const std::vector<double>& output) const {
  for (std::size_t c = 0; c < output.size() && !seen.refused; ++c) {
    // A kernel can give numbers of this type only.
    const double stand_in = rounded_to(of_.problem.out_dtype(), output[c]);
    const bool refused = !(exact.facts.output[c].distance_lower(stand_in) <= exact.bound.output[c]);
    // What is refused only where it is right up to its own rounding is no stand-in.
    if ((refused || !seen.differs) && differs(exact.facts, c, stand_in)) {
      seen.differs = true;
      seen.refused = refused;
    }
  }
}

void StandInTrials::look_at(const RowIndex& row, const reference::CertifiedRow& exact) {
  for (std::size_t which = 0; which < seen_.size(); ++which) {
    if (seen_[which].refused) continue;
    const auto output = stand_in_output(which, of_, row, exact.facts);
    if (output) compare(seen_[which], exact, *output);
  }
}

std::vector<StandInTrial> StandInTrials::trials() const {
  std::vector<StandInTrial> trials;
  for (std::size_t which = 0; which < seen_.size(); ++which)
    if (seen_[which].differs) trials.push_back({stand_ins()[which].name, !seen_[which].refused});
  return trials;
}

void LseTrials::look_at(const reference::CertifiedRow& exact, const Problem& problem) {
  if (exact.facts.keys.empty() || !exact.asked_lse || !exact.bound.proven()) return;
  const double lse = exact.asked_lse->high;
  const bool base_two = problem.lse == LseForm::base_two;
  const double maximum = exact.facts.score_max * (base_two ? std::numbers::log2e : 1);
  try_out(other_base_, exact, base_two ? lse * std::numbers::ln2 : lse * std::numbers::log2e);
  try_out(maximum_, exact, maximum);
}

void LseTrials::try_out(Seen& seen, const reference::CertifiedRow& exact, double lse) {
  const double distance = exact.asked_lse->distance_lower(lse);
  if (!(distance > 0x1p-50 * (1 + std::abs(lse)))) return;
  seen.differs = true;
  seen.refused = seen.refused || distance > exact.asked_lse_bound;
}

std::vector<StandInTrial> LseTrials::trials() const {
  std::vector<StandInTrial> trials;
  if (other_base_.differs) trials.push_back({"lse in the other base", !other_base_.refused});
  if (maximum_.differs) trials.push_back({"lse is the maximum", !maximum_.refused});
  return trials;
}

std::string low_power(const std::vector<StandInTrial>& trials) {
  const auto accepted = std::count_if(trials.begin(), trials.end(),
                                      [](const StandInTrial& trial) { return trial.accepted; });
  if (static_cast<double>(accepted) <= kMostAccepted * static_cast<double>(trials.size()))
    return {};
  return std::to_string(accepted) + " of " + std::to_string(trials.size()) +
         " stand-ins would also be accepted";
}

}  // namespace attest::properties
