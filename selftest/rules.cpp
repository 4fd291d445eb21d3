#include "selftest/rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "attest/element.hpp"

namespace attest::selftest {
namespace {

/// Largest |left - right|; NaN if one of them is.
double largest_difference(const std::vector<double>& left, const std::vector<double>& right) {
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double difference = std::abs(left[i] - right[i]);
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(largest)) break;
  }
  return largest;
}

bool allclose(const Compared& values) {
  constexpr double kTolerance = 1e-2;
  for (std::size_t i = 0; i < values.got.size(); ++i) {
    const double limit = kTolerance + kTolerance * std::abs(values.truth[i]);
    if (!(std::abs(values.got[i] - values.truth[i]) <= limit)) return false;
  }
  return true;
}

/// What two additions in the type of the output move: twice the largest |o + 0.3 - 0.3 - o|.
double rounding_allowance(const Compared& values) {
  double largest = 0;
  for (const double truth : values.truth) {
    const double stored = rounded_to(values.dtype, truth);
    const double moved = rounded_to(values.dtype, rounded_to(values.dtype, stored + 0.3) - 0.3);
    largest = std::max(largest, std::abs(moved - stored));
  }
  return 2 * largest;
}

bool twin(const Compared& values) {
  const double error = largest_difference(values.got, values.truth);
  return error <= 2 * largest_difference(values.plain, values.truth) + rounding_allowance(values);
}

bool five_times(const Compared& values) {
  constexpr double kFloor = 1e-5;  // torch's default atol of float32
  const double of_plain = largest_difference(values.plain, values.truth);
  return largest_difference(values.got, values.truth) <= std::max(kFloor, 5 * of_plain);
}

bool nmse(const Compared& values) {
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < values.got.size(); ++i) {
    error += std::pow(values.got[i] - values.truth[i], 2);
    size += std::pow(values.truth[i], 2);
  }
  // 0 / 0 is a tensor of zeros, and right.
  return error == 0 || error / size <= 5e-4;
}

constexpr std::array kRules{
    Rule{"allclose 1e-2", "|got - truth| <= 1e-2 + 1e-2 |truth|, every element",
         "torch.allclose with rtol = atol = 1e-2, as many kernels' tests use it", allclose},
    Rule{"twin 2x",
         "max |got - truth| <= 2 max |plain - truth| + 2 max |truth + 0.3 - 0.3 - truth|",
         "Dao-AILab/flash-attention, hopper/test_flash_attn.py", twin},
    Rule{"plain 5x", "max |got - truth| <= max(1e-5, 5 max |plain - truth|)",
         "pytorch/pytorch, test/test_transformers.py, _check_equal", five_times},
    Rule{"NMSE 5e-4", "sum (got - truth)^2 / sum truth^2 <= 5e-4",
         "ggml-org/llama.cpp, tests/test-backend-ops.cpp, FLASH_ATTN_EXT", nmse},
};

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

}  // namespace attest::selftest
