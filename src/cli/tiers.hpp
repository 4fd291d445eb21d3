// How much a run of laws is.
#pragma once

#include <string_view>

#include "attest/status.hpp"

namespace attest::cli {

struct Tier {
  Index cases = 0;      ///< a law
  Index bit_cases = 0;  ///< a dtype, for bit equality
};

inline Result<Tier> find_tier(std::string_view name) {
  if (name == "smoke") return Tier{20, 0};
  if (name == "ci") return Tier{200, 40};
  if (name == "nightly") return Tier{5000, 400};
  return invalid_argument("unknown tier '" + std::string(name) + "'; known: smoke, ci, nightly");
}

}  // namespace attest::cli
