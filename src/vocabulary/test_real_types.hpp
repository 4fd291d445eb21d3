// The element types of typed tests and their names.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace attest {

using RealTypes = ::testing::Types<float, double>;

class RealName {
 public:
  template <class Real>
  static std::string GetName(int /*index*/) {
    return std::is_same_v<Real, float> ? "f32" : "f64";
  }
};

}  // namespace attest
