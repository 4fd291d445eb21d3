// The findings of `attest bound` as text and as JSON.
#pragma once

#include <string>

#include "cli/bound_job.hpp"

namespace attest::cli {

/// What the findings are about.
struct BoundTitle {
  std::string kernel;
  std::string problem;  ///< minimal text
  std::string dtype;
};

std::string render_bound_text(const BoundTitle& title, const BoundFindings& findings);
std::string render_bound_json(const BoundTitle& title, const BoundFindings& findings);

}  // namespace attest::cli
