#include "bench/measure.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "bench/clock.hpp"

namespace attest::bench {
namespace {

/// A call that takes this many times the seconds of its effort runs in fewer repetitions.
constexpr double kPatience = 8;

class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(std::vector<Repetition>& into) : into_(into) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const auto iterations = static_cast<double>(run.iterations);
      into_.push_back(
          {run.real_accumulated_time / iterations, run.cpu_accumulated_time / iterations});
    }
  }

 private:
  std::vector<Repetition>& into_;
};

/// How one call is repeated.
struct Plan {
  benchmark::IterationCount iterations = 1;  ///< of one repetition
  int repetitions = 1;
};

Plan plan(Call& call, const Effort& effort) {
  const double begin = thread_seconds();
  static_cast<void>(call.run().ok());  // it has been run before
  const double once = std::max(thread_seconds() - begin, 1e-9);
  const double share = effort.seconds / effort.repetitions;
  const double affordable = kPatience * effort.seconds / once;
  return {static_cast<benchmark::IterationCount>(std::clamp(share / once, 1.0, 1e9)),
          static_cast<int>(std::clamp(affordable, 1.0, static_cast<double>(effort.repetitions)))};
}

std::string benchmark_name(std::size_t number) {
  return "call_" + std::to_string(number);
}

void declare(std::size_t number, Call& call, const Plan& plan) {
  benchmark::RegisterBenchmark(benchmark_name(number).c_str(), [&call](benchmark::State& state) {
    for (auto _ : state)
      if (!call.run().ok()) state.SkipWithError("the call failed");
  })->Iterations(plan.iterations);
}

}  // namespace

std::vector<std::vector<Repetition>> measure_in_turns(std::span<Call* const> calls,
                                                      const Effort& effort) {
  benchmark::ClearRegisteredBenchmarks();
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    plans.push_back(plan(*calls[i], effort));
    declare(i, *calls[i], plans.back());
  }
  std::vector<std::vector<Repetition>> results(calls.size());
  for (int round = 0; round < effort.repetitions; ++round)
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (round >= plans[i].repetitions) continue;
      Collector collector(results[i]);
      benchmark::RunSpecifiedBenchmarks(&collector, "^" + benchmark_name(i) + "/");
    }
  benchmark::ClearRegisteredBenchmarks();
  return results;
}

Quartiles quartiles(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(numbers.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, numbers.size() - 1);
    const double weight = place - std::floor(place);
    return numbers[below] * (1 - weight) + numbers[above] * weight;
  };
  return {at(0.25), at(0.5), at(0.75), numbers.front()};
}

}  // namespace attest::bench
