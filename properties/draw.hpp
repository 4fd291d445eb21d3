// A source of choices. Everything that is random about a case comes from one, so that the seeded
// command, RapidCheck and the fuzzer's bytes make the same kinds of case.
#pragma once

#include <cstdint>
#include <span>

#include "attest/random.hpp"
#include "attest/status.hpp"

namespace attest::properties {

class Draw {
 public:
  Draw() = default;
  Draw(const Draw&) = delete;
  Draw& operator=(const Draw&) = delete;
  virtual ~Draw() = default;

  /// In [0, bound) for bound >= 1; the simplest choice is 0.
  virtual std::uint64_t below(std::uint64_t bound) = 0;

  /// In [low, high].
  Index between(Index low, Index high) {
    return low + static_cast<Index>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  /// True in `percent` of 100 cases.
  bool chance(unsigned percent) { return below(100) >= 100 - percent; }

  template <class Value>
  Value one_of(std::span<const Value> values) {
    return values[below(values.size())];
  }
};

class SeededDraw : public Draw {
 public:
  explicit SeededDraw(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t bound) override { return random_.below(bound); }

 private:
  SplitMix64 random_;
};

/// In [0, 1), a multiple of 2^-24. `Source` has below(bound): a Draw or a SplitMix64.
template <class Source>
double uniform(Source& source) {
  return static_cast<double>(source.below(1U << 24U)) * 0x1p-24;
}

/// Close to the standard normal: sum of 12 uniforms, exact in double (Irwin-Hall).
template <class Source>
double normal(Source& source) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform(source);
  return sum;
}

/// A draw as good as independent for every (seed, stream, number).
inline std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t stream, std::uint64_t number) {
  SplitMix64 first(seed ^ (stream * 0x9E3779B97F4A7C15U));
  SplitMix64 second(first.next() + number);
  return second.next();
}

}  // namespace attest::properties
