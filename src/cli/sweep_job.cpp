#include "cli/sweep_job.hpp"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <utility>

#include "cli/case_text.hpp"
#include "cli/judged_variants.hpp"

namespace attest::cli {
namespace {

/// The findings of all cases of a point.
class Point {
 public:
  Point(const SweepJob& job, const SweepValue& value, const ProblemText& problem) : job_(job) {
    point_.x = value.text;
    point_.number = value.number;
    point_.dtype = to_string(problem.problem.out_dtype());
    point_.problem = minimal_text(problem);
  }

  void add(const properties::Case& on, VariantFindings found) {
    // Quantiles are not asked for.
    found.ulps.clear();
    if (point_.replay.empty() || found.worst_ratio > all_.worst_ratio)
      point_.replay = replay_command_line(*job_.kernel, on, "bound.out", {});
    all_.add(found);
  }
  void refuse(const std::string& reason) { point_.reason = reason; }

  reports::SweepPoint finish() {
    if (!point_.reason.empty()) return std::move(point_);
    point_.outputs = all_.outputs;
    point_.max_error = all_.largest_error;
    const auto measured = static_cast<double>(all_.errors.measured());
    point_.rms_error = measured > 0 ? std::sqrt(all_.sum_squares / measured) : 0;
    point_.bias = all_.bias;
    point_.ulp_max = all_.errors.largest;
    point_.ratio = all_.worst_ratio;
    point_.twin_ratio = all_.twin_ratio();
    point_.violations = all_.violations;
    point_.worst_element = all_.worst_element();
    point_.errors = all_.errors;
    return std::move(point_);
  }

 private:
  const SweepJob& job_;
  reports::SweepPoint point_;
  VariantFindings all_;
};

}  // namespace

Result<std::vector<std::pair<SweepValue, ProblemText>>> sweep_problems(const SweepJob& job) {
  std::vector<std::pair<SweepValue, ProblemText>> problems;
  for (const Dtype dtype : job.dtypes) {
    ProblemText base = job.base;
    base.problem.dtype = dtype;
    for (const SweepValue& value : job.range.values) {
      auto made = with_value(base, job.range.over, value);
      if (!made.ok()) return made.status();
      if (!properties::check_size(made.value().problem).ok())
        return invalid_argument(fmt::format("{}={} makes tensors that are too large to check",
                                            to_string(job.range.over), value.text));
      problems.emplace_back(value, std::move(made).value());
    }
  }
  return problems;
}

Result<std::optional<reports::SweepPoint>> measure_point(const SweepJob& job,
                                                         const SweepValue& value,
                                                         const ProblemText& problem) {
  Point point(job, value, problem);
  for (Index number = 0; number < job.cases; ++number) {
    if (job.stop != nullptr && *job.stop) return std::optional<reports::SweepPoint>();
    ProblemText text = problem;
    text.values.seed += static_cast<std::uint64_t>(number);
    auto made = properties::make_case(text, job.library);
    if (!made.ok()) return made.status();
    const properties::Case& on = made.value();
    std::vector<Variant> variants(1);
    variants[0] = {job.kernel,
                   &on,
                   on.tiling,
                   job.kernel->accuracy(on.problem),
                   properties::run_kernel(*job.kernel, on),
                   {}};
    if (const auto verdict = properties::stopped(variants[0].outputs, on)) {
      if (verdict->outcome != Outcome::skipped)
        return Status{StatusCode::kernel_failed, point.finish().problem + ": " + verdict->reason};
      point.refuse(verdict->reason);
      break;
    }
    // Errors of narrow outputs are always near their bounds: both oracles are asked about those
    // beyond it.
    Status status = judge_rows(on, variants, job.jobs, Audit::none);
    if (status.ok() && variants[0].found.violations > 0) {
      variants[0].found = {};
      status = judge_rows(on, variants, job.jobs);
    }
    if (!status.ok()) {
      point.refuse(status.message());
      break;
    }
    point.add(on, std::move(variants[0].found));
  }
  return std::optional(point.finish());
}

}  // namespace attest::cli
