// The tables and the last line, which the text and the Markdown renderers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "reports/report.hpp"
#include "reports/table.hpp"

namespace attest::reports {

/// One row a law; problem texts are cut to `problem_width` characters.
Table law_table(const CheckReport& report, std::size_t problem_width);

/// "out[b,h,i,c]"; an lse has a column only where it is maximum and sum, a gradient of sinks has
/// only heads.
std::string witness_element(const Witness& witness);

/// The last line in two parts: "PASSED", and what follows it.
std::string outcome_word(const CheckReport& report);
std::string outcome_details(const CheckReport& report);

/// Rows of one kernel and dtype, over all tensors and tilings.
struct AccuracySummary {
  std::string kernel;
  std::string dtype;
  std::int64_t outputs = 0;
  std::int64_t violations = 0;
  double worst_error = 0;
  double worst_ratio = 0;
  double worst_lse_error = 0;
  double worst_lse_ratio = 0;
  UlpQuantiles ulp;  ///< largest of each; no quantile of all outputs together is above it
  /// Largest; NaN: measured nowhere.
  double twin_ratio = std::numeric_limits<double>::quiet_NaN();
  std::string worst_tensor;  ///< where the larger of the two ratios was seen
};

/// In the order in which kernels and dtypes appear.
std::vector<AccuracySummary> summarize(const std::vector<AccuracyRow>& rows);

Table summary_table(const AccuracyReport& report);

/// The rows of one tensor: one a kernel and tiling.
Table tensor_table(const AccuracyReport& report, const std::string& tensor,
                   std::size_t problem_width);

/// Names of the tensors in the order in which they appear.
std::vector<std::string> tensor_names(const AccuracyReport& report);

/// "2 kernels  3 tensors  4096 outputs  0 violations  48 s"
std::string accuracy_totals(const AccuracyReport& report);

/// What the quantile columns of summary_table mean.
inline constexpr std::string_view kUlpNote =
    "ulp: units in the last place of the correctly rounded result; twin ratio: largest error over "
    "that "
    "of the plain evaluation in the same dtype; each the largest over tensors and tilings";

/// A broken kernel fails nearly every case; the rest of them is in run.jsonl.
inline constexpr std::size_t kMaxViolationsShown = 50;

}  // namespace attest::reports
