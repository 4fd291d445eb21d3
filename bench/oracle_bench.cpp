// Cost of the truth: certified outputs per second of the fast path and of MPFR intervals, against
// plain evaluations without any certificate; and how the fast path grows with the number of keys.
//
//   oracle_bench [--benchmark_...]     repetitions are interleaved; ratios follow the runs
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "bench/bench_rows.hpp"
#include "bench/point_mpfr.hpp"
#include "reference/oracle.hpp"
#include "reference/oracle_fast.hpp"

namespace attest::bench {
namespace {

using Method = std::function<double(const reference::Row&)>;

void measure(benchmark::State& state, const Method& method, Index n) {
  const reference::Row& row = bench_row(n);
  for (auto _ : state) benchmark::DoNotOptimize(method(row));
  state.counters["outputs/s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * kHeadDim), benchmark::Counter::kIsRate);
}

/// Remembers the fastest repetition of every run: CPU time of one row, in seconds.
class Times : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const double seconds = run.cpu_accumulated_time / static_cast<double>(run.iterations);
      double& best = best_.try_emplace(run.run_name.function_name, kNone).first->second;
      best = std::min(best, seconds);
    }
  }
  /// 0 when the run was filtered out.
  double best(const std::string& method, Index n) const {
    const auto found = best_.find(method + "/" + std::to_string(n));
    return found == best_.end() ? 0 : found->second;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  std::map<std::string, double> best_;
};

const std::vector<std::pair<std::string, Method>>& methods() {
  static const std::vector<std::pair<std::string, Method>> all{
      {"fast",
       [](const reference::Row& row) { return reference::enclose_row_fast(row)->lse.high; }},
      {"mpfr_128_enclosure",
       [](const reference::Row& row) { return reference::enclose_row(row, 128)->lse.high; }},
      {"raw_mpfr_256", [](const reference::Row& row) { return point_raw_mpfr_256(row).lse; }},
      {"boost_mpfr_256", [](const reference::Row& row) { return point_boost_mpfr_256(row).lse; }}};
  return all;
}

constexpr Index kCompared[] = {32, 512, 4096};
constexpr Index kSmallest = 64;
constexpr Index kLargest = 8192;

void declare(const std::string& name, const Method& method, Index n) {
  benchmark::RegisterBenchmark((name + "/" + std::to_string(n)).c_str(),
                               [&method, n](benchmark::State& state) { measure(state, method, n); })
      ->Unit(benchmark::kMicrosecond);
}

void print_ratios(const Times& times) {
  std::printf(
      "\nCPU time of one row, head_dim 64, over that of the fast path (fastest repetitions)\n");
  std::printf("%8s %12s %20s %14s %16s\n", "keys", "fast, us", "mpfr_128_enclosure", "raw_mpfr_256",
              "boost_mpfr_256");
  for (const Index n : kCompared) {
    const double fast = times.best("fast", n);
    if (fast == 0) continue;
    std::printf("%8lld %12.1f %20.1f %14.1f %16.1f\n", static_cast<long long>(n), fast * 1e6,
                times.best("mpfr_128_enclosure", n) / fast, times.best("raw_mpfr_256", n) / fast,
                times.best("boost_mpfr_256", n) / fast);
  }
  std::printf("\nGrowth of the fast path: time per key, ns\n");
  for (Index n = kSmallest; n <= kLargest; n *= 2)
    if (const double fast = times.best("fast", n); fast != 0)
      std::printf("%8lld %12.1f\n", static_cast<long long>(n), fast * 1e9 / static_cast<double>(n));
}

int run(int count, char** arguments) {
  // Defaults, which the command line may override.
  std::vector<std::string> defaults{"--benchmark_enable_random_interleaving=true",
                                    "--benchmark_repetitions=5", "--benchmark_min_time=0.1"};
  std::vector<char*> all{arguments[0]};
  for (std::string& each : defaults) all.push_back(each.data());
  all.insert(all.end(), arguments + 1, arguments + count);
  int total = static_cast<int>(all.size());
  benchmark::Initialize(&total, all.data());
  if (benchmark::ReportUnrecognizedArguments(total, all.data())) return 2;

  for (const Index n : kCompared) {
    if (const std::string what = disagreement(n); !what.empty()) {
      std::fprintf(stderr, "oracle_bench: %lld keys: %s\n", static_cast<long long>(n),
                   what.c_str());
      return 1;
    }
    for (const auto& [name, method] : methods()) declare(name, method, n);
  }
  for (Index n = kSmallest; n <= kLargest; n *= 2)
    if (std::find(std::begin(kCompared), std::end(kCompared), n) == std::end(kCompared))
      declare("fast", methods().front().second, n);
  Times times;
  benchmark::RunSpecifiedBenchmarks(&times);
  print_ratios(times);
  return 0;
}

}  // namespace
}  // namespace attest::bench

int main(int count, char** arguments) {
  return attest::bench::run(count, arguments);
}
