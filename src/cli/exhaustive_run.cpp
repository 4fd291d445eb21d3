#include "cli/exhaustive_run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "properties/in_parallel.hpp"

namespace attest::cli {
namespace {

using kernels::MathFunction;
using reference::Elementary;
using reference::ElementaryArguments;
using reference::ElementaryTally;

constexpr std::array<NamedFunction, 4> kFunctions{
    {{"exp", MathFunction::exp, Elementary::exp},
     {"exp_non_positive", MathFunction::exp_non_positive, Elementary::exp},
     {"tanh", MathFunction::tanh, Elementary::tanh},
     {"log", MathFunction::log, Elementary::log}}};

std::vector<float> block_arguments(MathFunction function, Index block) {
  std::vector<float> x;
  x.reserve(kBlockArguments);
  for (Index i = 0; i < kBlockArguments; ++i) {
    const auto bits = static_cast<std::uint32_t>(block * kBlockArguments + i);
    const auto argument = std::bit_cast<float>(bits);
    if (function != MathFunction::exp_non_positive || !(argument > 0)) x.push_back(argument);
  }
  return x;
}

/// A refused target cannot be: the names were checked. It would show as NaN, which is wrong.
std::vector<float> results_of(MathFunction function, const std::string& target,
                              const std::vector<float>& x) {
  std::vector<float> y(x.size());
  if (!kernels::apply(function, target, x, std::span<float>(y)).ok())
    std::fill(y.begin(), y.end(), std::nanf(""));
  return y;
}

bool same_bits(const std::vector<float>& left, const std::vector<float>& right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0);
}

/// Of one target.
struct Results {
  std::vector<float> known, measured;
  friend bool operator==(const Results& left, const Results& right) {
    return same_bits(left.known, right.known) && same_bits(left.measured, right.measured);
  }
};

}  // namespace

std::optional<NamedFunction> find_function(std::string_view name) {
  for (const NamedFunction& function : kFunctions)
    if (function.name == name) return function;
  return std::nullopt;
}

std::vector<ElementaryTally> judge_block(const NamedFunction& function,
                                         const std::vector<std::string>& targets, Index block) {
  const ElementaryArguments arguments =
      reference::evaluate(function.exact, block_arguments(function.function, block));
  std::vector<Results> results;
  std::vector<ElementaryTally> tallies;
  for (const std::string& target : targets) {
    Results own{results_of(function.function, target, arguments.known),
                results_of(function.function, target, arguments.measured)};
    // Targets with the same arithmetic have the same bits, which are judged once.
    const auto same = std::find(results.begin(), results.end(), own);
    tallies.push_back(same == results.end()
                          ? reference::judge(function.exact, arguments, own.known, own.measured)
                          : tallies[static_cast<std::size_t>(same - results.begin())]);
    results.push_back(std::move(own));
  }
  return tallies;
}

std::vector<std::vector<ElementaryTally>> judge_blocks(const NamedFunction& function,
                                                       const std::vector<std::string>& targets,
                                                       Index first, Index last, int threads) {
  std::vector<std::vector<ElementaryTally>> tallies(static_cast<std::size_t>(last - first));
  properties::in_parallel(last - first, threads, [&](Index number) {
    tallies[static_cast<std::size_t>(number)] = judge_block(function, targets, first + number);
  });
  return tallies;
}

kernels::MathError declared_of(const NamedFunction& function, const std::string& target) {
  return kernels::declared_error<float>(function.function,
                                        kernels::has_fused_multiply_add(target).value());
}

bool declared_holds(const NamedFunction& function, const std::string& target,
                    const ElementaryTally& found) {
  const kernels::MathError declared = declared_of(function, target);
  const auto within = [](const reference::LargestError& largest, double limit) {
    if (largest.error <= reference::kSmallError) return limit >= reference::kSmallError;
    return largest.error + reference::kErrorResolution <= limit;
  };
  return found.wrong == 0 && within(found.relative, declared.relative) &&
         within(found.subnormal, declared.subnormal);
}

}  // namespace attest::cli
