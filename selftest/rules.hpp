// Acceptance rules of other projects, as their tests state them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "attest/dtype.hpp"

namespace attest::selftest {

/// One tensor three times, element by element: what a kernel gave, what a plain evaluation of the
/// same precision gave, and the truth.
struct Compared {
  std::vector<double> got;
  std::vector<double> plain;
  std::vector<double> truth;
  Dtype dtype = Dtype::f32;  ///< of `got`
};

struct Rule {
  std::string_view name;
  std::string_view formula;
  std::string_view source;
  bool (*accepts)(const Compared&);
};

/// In a stable order.
std::span<const Rule> rules();

}  // namespace attest::selftest
