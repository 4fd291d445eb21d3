// Problems with their tensors, and loops over every built-in kernel.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attest/problem_text.hpp"
#include "attest/random.hpp"
#include "attest/tensor.hpp"
#include "kernels/registry.hpp"

namespace attest::kernels {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kUntouched = -77;

/// A problem with its tensors. Every element of out and lse is kUntouched at first.
struct Case {
  explicit Case(Problem asked, Tiling cut = {})
      : problem(std::move(asked)),
        tiling(std::move(cut)),
        q(problem.dtype, problem.q_extents()),
        k(problem.dtype, problem.k_extents()),
        v(problem.dtype, problem.v_extents()),
        out(problem.dtype, problem.out_extents()),
        lse(problem.dtype, problem.lse_extents()) {
    clear();
  }
  void clear() {
    for (Tensor* tensor : {&out, &lse}) fill(*tensor, [] { return kUntouched; });
  }
  template <class Next>
  static void fill(Tensor& tensor, Next&& next) {
    for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
      tensor.set(b, h, row, column, next());
    });
  }
  ForwardViews views() {
    const Case& inputs = *this;
    return {inputs.q.ref(), inputs.k.ref(), inputs.v.ref(), out.ref(),
            problem.lse == LseForm::none ? TensorRef{} : lse.ref()};
  }
  Status forward(const Kernel& kernel) { return kernel.forward(problem, tiling, views()); }
  void run(const Kernel& kernel) {
    const Status status = forward(kernel);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  Problem problem;
  Tiling tiling;
  Tensor q, k, v, out, lse;
};

/// The problem and tiling of a line, with inputs that are multiples of 2^-20 in [-4, 4).
inline Case random_case(const std::string& line, std::uint64_t seed = 1) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << with_caret(line, error);
  Case drawn(text.problem, text.tiling);
  SplitMix64 random(seed);
  for (Tensor* tensor : {&drawn.q, &drawn.k, &drawn.v})
    Case::fill(*tensor, [&] { return static_cast<double>(random.below(1U << 23U)) * 0x1p-20 - 4; });
  return drawn;
}

/// The elements in logical order.
inline std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    values.push_back(tensor.get(b, h, row, column));
  });
  return values;
}

inline bool is_untouched(const Tensor& tensor) {
  const std::vector<double> values = values_of(tensor);
  return std::all_of(values.begin(), values.end(), [](double v) { return v == kUntouched; });
}

template <class Body>
void for_each_kernel(Body&& body) {
  for (const auto& kernel : builtin_kernels()) {
    SCOPED_TRACE(kernel->description().name);
    body(*kernel);
  }
}

inline bool supports(const Kernel& kernel, const Problem& problem) {
  return check_support(kernel.description().capabilities, problem).ok();
}

/// f32 and f64, where the kernel has them.
template <class Body>
void for_each_kernel_and_dtype(Body&& body) {
  for_each_kernel([&](const Kernel& kernel) {
    for (const char* dtype : {"f32", "f64"}) {
      Problem problem;
      problem.dtype = dtype_from_string(dtype).value();
      if (!supports(kernel, problem)) continue;
      SCOPED_TRACE(dtype);
      body(kernel, std::string(dtype));
    }
  });
}

}  // namespace attest::kernels
