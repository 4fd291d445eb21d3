// Kernels that make a real error and declare it, and the same kernels declaring less.
#pragma once

#include <string>

#include "mutants/mutants.hpp"

namespace attest::mutants {

/// Two kernels with the same code: only what they say of themselves differs.
struct DeclaredPair {
  std::string_view field;  ///< of DeclaredAccuracy
  std::unique_ptr<Kernel> honest;
  std::unique_ptr<Kernel> too_little;
  std::string_view caught_by;  ///< law that `too_little` breaks and `honest` keeps
  std::string case_text;       ///< the case that shows it; empty: cases as they are drawn
};

std::vector<DeclaredPair> declared_pairs();

}  // namespace attest::mutants
