// Laws as tests of a framework: one law on one kernel, with its outcome as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attest/kernel.hpp"
#include "properties/laws.hpp"

namespace attest::harness {

struct LawTests {
  std::string tier = "smoke";          ///< smoke, ci or nightly
  std::vector<std::string> laws = {};  ///< globs; none: every law
  std::vector<std::string> skip = {};  ///< globs
  std::vector<Dtype> dtypes = {};      ///< of q; none: all that the kernel takes
  std::int64_t cases = -1;             ///< generated ones a law; -1: those of the tier
  std::uint64_t seed = 0x5EED1A77;
  double shrink_seconds = 5;  ///< for a violation; 0: it is shown as it was found
};

Result<std::vector<const properties::Law*>> selected_laws(const LawTests& tests);

enum class LawOutcome {
  holds,
  broken,     ///< or too many cases were weak or unproven: that is no pass
  no_matter,  ///< the law says nothing about what the kernel declares
};

struct LawResult {
  LawOutcome outcome = LawOutcome::holds;
  std::string text;  ///< of what is broken: as `attest check` prints it
};

/// The stored hard cases, then generated ones, up to the first violation.
LawResult run_law(const Kernel& kernel, const properties::Law& law, const LawTests& tests);

}  // namespace attest::harness
