#include "harness/law_tests.hpp"

#include "cli/check_run.hpp"
#include "cli/dtypes.hpp"
#include "cli/inputs.hpp"
#include "cli/tiers.hpp"

namespace attest::harness {
namespace {

LawResult broken(std::string text) {
  return {LawOutcome::broken, std::move(text)};
}

Result<cli::CheckRun> planned(const Kernel& kernel, const properties::Law& law,
                              const LawTests& tests) {
  const auto tier = cli::find_tier(tests.tier);
  if (!tier.ok()) return tier.status();
  // Without a library: generated values alone, so that a test needs no files.
  auto given = cli::hard_cases(nullptr);
  if (!given.ok()) return given.status();
  cli::CheckRun run;
  run.kernel = &kernel;
  run.plan.laws = {&law};
  run.plan.given = std::move(given).value();
  run.plan.drawn_cases = tests.cases >= 0 ? tests.cases : tier.value().cases;
  run.plan.seed = tests.seed;
  run.plan.limits = properties::limits_for(kernel, nullptr);
  run.bit_cases = tier.value().bit_cases;
  run.shrink_time = tests.shrink_seconds;
  if (!cli::keep_dtypes(run.plan, tests.dtypes))
    return invalid_argument(kernel.description().name + " takes none of these types");
  return run;
}

}  // namespace

Result<std::vector<const properties::Law*>> selected_laws(const LawTests& tests) {
  return cli::select_laws(tests.laws, tests.skip);
}

LawResult run_law(const Kernel& kernel, const properties::Law& law, const LawTests& tests) {
  auto made = planned(kernel, law, tests);
  if (!made.ok()) return broken(made.status().message());
  cli::CheckRun run = std::move(made).value();
  std::string text;
  run.print = [&](const std::string& more) { text += more; };
  auto lines = cli::RunStream::open({}, cli::run_header("check", {&kernel}, run.plan.laws));
  if (!lines.ok()) return broken(lines.status().message());
  const auto report = cli::run_checks(run, lines.value());
  if (!report.ok()) return broken(report.status().message());
  const std::vector<reports::LawRow>& rows = report.value().laws;
  if (!rows.empty() && rows.front().skipped == rows.front().cases)
    return {LawOutcome::no_matter, "the kernel declares nothing that the law is about"};
  switch (run_outcome(report.value())) {
    case reports::RunOutcome::passed:
      return {};
    case reports::RunOutcome::undecided:
      return broken(undecided_reason(report.value()));
    case reports::RunOutcome::violated:
      break;
  }
  return broken(std::move(text));
}

}  // namespace attest::harness
