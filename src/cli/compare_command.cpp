#include <fmt/core.h>

#include "cli/commands.hpp"
#include "reports/compare.hpp"
#include "reports/run_history.hpp"

namespace attest::cli {

int compare_command(const CompareOptions& options) {
  reports::Gate gate;
  if (Status status = reports::parse_gate(options.gate, gate); !status.ok())
    return usage(status.message());
  const auto old_run = reports::read_runs({options.old_run});
  if (!old_run.ok()) return usage(old_run.status().message());
  const auto new_run = reports::read_runs({options.new_run});
  if (!new_run.ok()) return usage(new_run.status().message());
  const auto comparison = reports::compare_runs(old_run.value().latest, new_run.value().latest,
                                                options.allow_other_kernel);
  if (!comparison.ok()) return usage(comparison.status().message());
  const reports::GateResult result = reports::judge(gate, comparison.value());
  fmt::print("{}{}", render_comparison(comparison.value()), render_gate(result));
  return result.passed ? all_good : violation;
}

}  // namespace attest::cli
