#include "properties/stand_in_trials.hpp"

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

}  // namespace attest::properties
