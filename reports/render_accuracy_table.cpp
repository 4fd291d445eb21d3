// The largest known errors of each kernel with their witnesses, for the README of a kernel.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "reports/escape.hpp"
#include "reports/numbers.hpp"
#include "reports/page_data.hpp"
#include "reports/render_run.hpp"
#include "reports/table.hpp"

namespace attest::reports {
namespace {

/// What is known of one kernel, variant and dtype.
struct Known {
  double ulp = std::numeric_limits<double>::quiet_NaN();
  std::string ulp_replay;
  double ratio = 0;
  std::string ratio_replay;
};

using Key = std::tuple<std::string, std::string, std::string>;  ///< kernel, variant, dtype

void keep_ulp(Known& known, double ulp, const std::string& replay) {
  if (std::isnan(ulp) || (!std::isnan(known.ulp) && ulp <= known.ulp)) return;
  known.ulp = ulp;
  known.ulp_replay = replay;
}

void keep_ratio(Known& known, double ratio, const std::string& replay) {
  if (!is_worse_ratio(ratio, known.ratio)) return;
  known.ratio = ratio;
  known.ratio_replay = replay;
}

std::string found(double value) {
  return std::isnan(value) ? "-" : "found >= " + ratio_text(value);
}

std::map<Key, Known> known_errors(const Run& run) {
  std::map<Key, Known> known;
  for (const VariantWorst& worst : run.cases.worst_by_variant()) {
    Known& one = known[{worst.by_ratio.kernel, worst.by_ratio.variant, worst.by_ratio.dtype}];
    keep_ratio(one, worst.by_ratio.verdict.worst_ratio, worst.by_ratio.replay);
    keep_ulp(one, worst.by_ulp.ulp, worst.by_ulp.replay);
  }
  for (const AccuracyRow& row : run.accuracy) {
    Known& one = known[{row.kernel, "recorded tensors", row.dtype}];
    keep_ratio(one, row.worst_ratio, row.replay);
    keep_ulp(one, row.ulp.max, row.replay);
  }
  return known;
}

}  // namespace

std::string render_accuracy_table(const RunHistory& history) {
  const Run& run = history.latest;
  std::string text = fmt::format(
      "# Largest known errors\n\n{}\n\n"
      "`found >=`: some output has an error of so much; its witness is the line that shows it "
      "again. `certified <=`: no output of a correct kernel of this declaration has more, on any "
      "input; an error / bound above 1 is a violation. ulp: units in the last place of the dtype "
      "of the output at the exact result.\n",
      markdown_code(run_outcome_line(run)));
  if (!run.unfinished.empty())
    text += fmt::format("\nThe run is {}.\n", markdown_code(run.unfinished));
  std::string kernel;
  Table table;
  const auto flush = [&] {
    if (!table.rows.empty())
      text += fmt::format("\n## {}\n\n{}", markdown_code(kernel), markdown_of(table));
    table.rows.clear();
  };
  table.columns = {{"variant", Column::Kind::text},
                   {"dtype", Column::Kind::text},
                   {"error, ulp", Column::Kind::ratio},
                   {"err/bound", Column::Kind::ratio},
                   {"limit", Column::Kind::ratio},
                   {"witness of the error", Column::Kind::text},
                   {"witness of err/bound", Column::Kind::text}};
  for (const auto& [key, known] : known_errors(run)) {
    if (std::get<0>(key) != kernel) flush();
    kernel = std::get<0>(key);
    table.rows.push_back(
        {std::get<1>(key), std::get<2>(key), found(known.ulp), found(known.ratio), "certified <= 1",
         cut(known.ulp_replay, 300),
         known.ratio_replay == known.ulp_replay ? "the same" : cut(known.ratio_replay, 300)});
  }
  flush();
  return text;
}

}  // namespace attest::reports
