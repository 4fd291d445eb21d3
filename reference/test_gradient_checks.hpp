// Runs a backward kernel on one problem and holds its gradients against the bound.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/test_gradient_inputs.hpp"
#include "reference/test_gradient_kernels.hpp"

namespace attest::reference {

/// Softcap, bias and sink, two rows, one of which is masked in part.
inline GradientInputs everything() {
  GradientInputs inputs;
  inputs.keys = 3;
  inputs.head_dim = 2;
  inputs.head_dim_v = 2;
  inputs.k = {1, 0.25, -0.5, 1.5, 2, -1};
  inputs.v = {1, 2, -3, 0.7, 5, -1};
  inputs.scale = 0.7F;
  inputs.softcap = 3;
  inputs.rows = {{{0.3F, -1}, {1, 0.1F}, 0.4F, {0, 1, 2}, {{{0.1F, -0.2F, 1}, false, true}}, -0.5},
                 {{1.1F, 0.5}, {-2, 1.7F}, 0, {0, 2}, {{{1, 0.5}, false, true}}, 0.25}};
  return inputs;
}

inline DeclaredGradientAccuracy ordinary(const GradientInputs& inputs) {
  return declared_gradients(inputs, {}, kF32);
}

struct GradientTally {
  std::size_t outputs = 0;
  std::size_t violations = 0;
  std::size_t problems = 0;
  std::size_t unproven = 0;
  std::array<double, kGradientNames.size()> largest{};  ///< ratio of error and limit
  std::string worst;                                    ///< of the violations, the first

  void add(const GradientTally& other) {
    outputs += other.outputs;
    violations += other.violations;
    problems += other.problems;
    unproven += other.unproven;
    for (std::size_t list = 0; list < largest.size(); ++list)
      largest[list] = std::max(largest[list], other.largest[list]);
    if (worst.empty()) worst = other.worst;
  }
};

template <class Real>
constexpr Format format_of_kernel() {
  return std::is_same_v<Real, double> ? kF64 : kF32;
}

/// The bound of a forward result is the error that it has: no forward bound can be smaller.
template <class Real>
RowBound measured_bound(const GradientRowFacts& facts, const ForwardRow<Real>& row) {
  RowBound bound;
  for (std::size_t c = 0; c < facts.output.size(); ++c)
    bound.output.push_back(facts.output[c].distance_upper(static_cast<double>(row.output[c])));
  if (std::isfinite(facts.lse.high))
    bound.lse = facts.lse.distance_upper(static_cast<double>(row.lse));
  return bound;
}

/// Moves the forward results, to the worse side for dout . out.
template <class Real>
void disturb(const GradientRow& row, double relative, ForwardRow<Real>& forward) {
  for (std::size_t c = 0; c < forward.output.size(); ++c) {
    const auto o = static_cast<double>(forward.output[c]);
    const double sign = row.output_gradient[c] < 0 ? -1 : 1;
    forward.output[c] = static_cast<Real>(o + sign * relative * std::abs(o));
  }
  forward.lse = static_cast<Real>(static_cast<double>(forward.lse) - relative);
}

inline void compare(const GradientFacts& facts, const GradientBound& bound,
                    const Gradients<double>& computed, GradientTally& tally) {
  for (std::size_t list = 0; list < kGradientNames.size(); ++list) {
    const std::vector<Enclosure>& exact = *facts.exact.lists()[list];
    const std::vector<double>& limit = *bound.limit.lists()[list];
    const std::vector<double>& got = *computed.lists()[list];
    for (std::size_t at = 0; at < exact.size(); ++at) {
      const double error = exact[at].distance_lower(got[at]);
      ++tally.outputs;
      // NaN is within no limit, and an enclosure or a limit without an end is no test.
      if (std::isfinite(exact[at].radius) && std::isfinite(limit[at]) && error <= limit[at]) {
        if (error > 0) tally.largest[list] = std::max(tally.largest[list], error / limit[at]);
        continue;
      }
      ++tally.violations;
      if (tally.worst.empty())
        tally.worst = std::string(kGradientNames[list]) + "[" + std::to_string(at) +
                      "] = " + std::to_string(got[at]) + ", exact " +
                      std::to_string(exact[at].high) + ", off by " +
                      std::to_string(error / limit[at]) + " limits";
    }
  }
}

/// One problem, one kernel. `disturbance` is relative, 0 for the kernel's own forward pass.
template <class Real>
GradientTally check_gradients(const GradientFacts& facts, const KernelForm& form,
                              double disturbance = 0) {
  const GradientInputs& inputs = facts.inputs;
  BackwardKernel<Real> kernel(inputs, form);
  std::vector<ForwardRow<Real>> forward;
  std::vector<RowBound> bounds;
  for (std::size_t i = 0; i < inputs.rows.size(); ++i) {
    forward.push_back(kernel.forward(inputs.rows[i]));
    if (disturbance != 0) disturb(inputs.rows[i], disturbance, forward.back());
    bounds.push_back(measured_bound(facts.rows[i], forward.back()));
  }
  DeclaredGradientAccuracy accuracy = declared_gradients(inputs, form, format_of_kernel<Real>());
  if (std::is_same_v<Real, Flushed>) accuracy.underflow = Underflow::flush_results_and_inputs;
  const GradientBound bound = gradient_bound(accuracy, facts, bounds);
  GradientTally tally;
  tally.problems = 1;
  if (!bound.proven()) {
    tally.unproven = 1;
    return tally;
  }
  compare(facts, bound, kernel.backward(forward), tally);
  return tally;
}

}  // namespace attest::reference
