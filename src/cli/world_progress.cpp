#include "cli/world_progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "reports/numbers.hpp"

namespace attest::cli {

WorldProgress::WorldProgress(const WorldState& state, const properties::Fp4World& world)
    : begin_(std::chrono::steady_clock::now()), is_terminal_(::isatty(STDERR_FILENO) != 0) {
  for (const WorldKernel& kernel : state.kernels) {
    total_ += world.pairs() * static_cast<Index>(kernel.tilings.size()) * (world.columns() + 1);
    before_ += kernel.found.outputs + kernel.found.lse_values;
  }
  done_ = before_;
}

void WorldProgress::show(const WorldKernel& kernel) {
  const double now = seconds();
  if (now - shown_ < (is_terminal_ ? 0.2 : 60)) return;
  shown_ = now;
  const double rate = static_cast<double>(done_ - before_) / now;
  const double worst = std::max(kernel.found.worst_out ? kernel.found.worst_out->ratio : 0,
                                kernel.found.worst_lse ? kernel.found.worst_lse->ratio : 0);
  fmt::print(stderr, "{}{}  {:.2f} %  {:.3g} values/s  {} left  worst err/bound {}{}",
             is_terminal_ ? "\r\x1b[K" : "", kernel.name, 100 * share(), rate,
             reports::seconds_text(static_cast<double>(total_ - done_) / rate),
             reports::ratio_text(worst), is_terminal_ ? "" : "\n");
  std::fflush(stderr);
}

void WorldProgress::clear() const {
  if (is_terminal_) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace attest::cli
