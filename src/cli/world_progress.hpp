// How far `attest world` is: a line on standard error.
#pragma once

#include <chrono>

#include "cli/world_state.hpp"

namespace attest::cli {

/// Shares of the whole run are counted in values compared.
class WorldProgress {
 public:
  WorldProgress(const WorldState& state, const properties::Fp4World& world);

  void add(const properties::WorldTally& tally) { done_ += tally.outputs + tally.lse_values; }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  double share() const { return static_cast<double>(done_) / static_cast<double>(total_); }

  /// A line that is rewritten on a terminal, and one a minute elsewhere.
  void show(const WorldKernel& kernel);
  void clear() const;

 private:
  std::chrono::steady_clock::time_point begin_;
  bool is_terminal_;
  Index total_ = 0;
  Index before_ = 0;
  Index done_ = 0;
  double shown_ = 0;
};

}  // namespace attest::cli
