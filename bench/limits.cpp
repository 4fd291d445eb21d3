#include "bench/limits.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/clock.hpp"

namespace attest::bench {
namespace {

constexpr long kRounds = 1'000'000;
constexpr std::size_t kReadUnit = 4096;

class FmaCall : public Call {
 public:
  FmaCall(FmaLoop loop, int threads) : loop_(std::move(loop)), threads_(threads) {}
  Status run() override {
    std::vector<std::thread> others;
    for (int i = 1; i < threads_; ++i) others.emplace_back([this] { loop_.run(kRounds); });
    flops_ = loop_.run(kRounds) * threads_;
    for (std::thread& other : others) other.join();
    return {};
  }
  double work() const override { return flops_; }

 private:
  FmaLoop loop_;
  int threads_;
  double flops_ = 0;
};

class ReadCall : public Call {
 public:
  ReadCall(const Workload& workload, const Inputs& inputs)
      : k_(inputs.k.floats()),
        v_(inputs.v.floats()),
        bytes_(static_cast<std::size_t>(work_of(workload) / 2) / kReadUnit * kReadUnit) {}
  Status run() override {
    kept_ = read_all(k_, bytes_) + read_all(v_, bytes_);
    return {};
  }
  double work() const override { return 2 * static_cast<double>(bytes_); }

 private:
  const float* k_;
  const float* v_;
  std::size_t bytes_;
  volatile float kept_ = 0;
};

/// Best of a few repetitions, by thread CPU time.
template <class Run>
double best_rate(Run&& run) {
  double best = 0;
  for (int repetition = 0; repetition < 5; ++repetition) {
    const double begin = thread_seconds();
    const double work = run();
    best = std::max(best, work / (thread_seconds() - begin));
  }
  return best;
}

std::string read_rate(std::size_t mebibytes) {
  const Buffer memory(mebibytes << 20);
  volatile float kept = 0;
  const double rate = best_rate([&] {
    kept = read_all(memory.floats(), memory.bytes());
    return static_cast<double>(memory.bytes());
  });
  return fmt::format("{:.1f} GB/s", rate * 1e-9);
}

}  // namespace

Competitor fma_peak(int threads) {
  const FmaLoop loop = fma_loops().front();
  Competitor competitor{"FMA peak, " + loop.target + threads_suffix(threads), Role::limit,
                        [loop, threads](const Workload& workload, const Inputs&) -> Prepared {
                          if (workload.unit != Unit::gflops) return not_offered("a limit of flops");
                          return {std::make_unique<FmaCall>(loop, threads)};
                        }};
  competitor.threads = threads;
  return competitor;
}

Competitor read_peak() {
  return {"reading k and v once", Role::limit,
          [](const Workload& workload, const Inputs& inputs) -> Prepared {
            if (workload.unit != Unit::gbytes) return not_offered("a limit of bytes");
            return {std::make_unique<ReadCall>(workload, inputs)};
          }};
}

std::vector<std::pair<std::string, std::string>> measured_limits() {
  std::vector<std::pair<std::string, std::string>> limits;
  for (const FmaLoop& loop : fma_loops()) {
    const double rate = best_rate([&] { return loop.run(kRounds); });
    limits.emplace_back("FMA peak, " + loop.target, fmt::format("{:.1f} GFLOP/s", rate * 1e-9));
  }
  for (const std::size_t size : {64U, 512U})
    limits.emplace_back(fmt::format("read, {} MiB", size), read_rate(size));
  return limits;
}

}  // namespace attest::bench
