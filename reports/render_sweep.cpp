// A sweep as a table and as CSV.
#include <fmt/format.h>

#include <cmath>

#include "reports/escape.hpp"
#include "reports/numbers.hpp"
#include "reports/report.hpp"
#include "reports/table.hpp"

namespace attest::reports {
namespace {

using Kind = Column::Kind;

std::string signed_text(double value) {
  return (value < 0 || std::isnan(value) ? "" : "+") + magnitude_text(value);
}

std::string bias_text(const SampleMeans& bias) {
  if (bias.count == 0) return "-";
  const double half = bias.half_width();
  return signed_text(bias.mean()) + (std::isfinite(half) ? " +- " + magnitude_text(half) : "");
}

std::vector<std::string> cells(const SweepPoint& point) {
  if (!point.reason.empty()) return {point.x, point.dtype, "-", "-", "-", "-", "-", "-"};
  return {point.x,
          point.dtype,
          magnitude_text(point.max_error),
          magnitude_text(point.rms_error),
          bias_text(point.bias),
          ratio_text(point.ulp_max),
          ratio_text(point.ratio),
          ratio_or_dash(point.twin_ratio)};
}

/// The point with the largest error / bound; null if none was measured.
const SweepPoint* worst_of(const SweepReport& report) {
  const SweepPoint* worst = nullptr;
  for (const SweepPoint& point : report.points)
    if (point.reason.empty() && (worst == nullptr || point.ratio > worst->ratio)) worst = &point;
  return worst;
}

std::string csv_number(double value) {
  return std::isnan(value) ? "" : fmt::format("{}", value);
}

}  // namespace

std::string render_sweep_text(const SweepReport& report) {
  Table table;
  table.columns = {{report.over, Kind::text},    {"dtype", Kind::text},
                   {"max err", Kind::ratio},     {"rms err", Kind::ratio},
                   {"bias (95 %)", Kind::ratio}, {"ulp max", Kind::ratio},
                   {"err/bound", Kind::ratio},   {"twin ratio", Kind::ratio}};
  std::int64_t violations = 0;
  std::string notes;
  for (const SweepPoint& point : report.points) {
    table.rows.push_back(cells(point));
    violations += point.violations;
    if (!point.reason.empty())
      notes += fmt::format("{}={} {}: not measured: {}\n", plain_text(report.over),
                           plain_text(point.x), plain_text(point.dtype), plain_text(point.reason));
  }
  std::string text = fmt::format("sweep {} of {}  {}\n\n", plain_text(report.over),
                                 plain_text(report.kernel), plain_text(report.base));
  text += text_of(table) + '\n' + notes;
  if (const SweepPoint* const worst = worst_of(report); worst != nullptr)
    text += fmt::format("worst   {}={} {}  {}\nreplay  {}\n", plain_text(report.over),
                        plain_text(worst->x), plain_text(worst->dtype),
                        plain_text(worst->worst_element), plain_text(worst->replay));
  return text + fmt::format("{}  {} beyond the bound{}  {}\n",
                            count_text(static_cast<std::int64_t>(report.points.size()), "point"),
                            count_text(violations, "output"),
                            report.interrupted ? "  interrupted" : "",
                            seconds_text(report.seconds));
}

std::string render_sweep_csv(const SweepReport& report) {
  std::string text =
      "kernel,over,x,dtype,outputs,max_error,rms_error,bias,bias_half_width,ulp_max,ratio,"
      "twin_ratio,violations,problem,replay,reason\n";
  for (const SweepPoint& point : report.points) {
    text += fmt::format("{},{},{},{},{},", csv_cell(report.kernel), csv_cell(report.over),
                        csv_cell(point.x), csv_cell(point.dtype), point.outputs);
    for (const double value :
         {point.max_error, point.rms_error, point.bias.mean(), point.bias.half_width(),
          point.ulp_max, point.ratio, point.twin_ratio})
      text += (point.reason.empty() ? csv_number(value) : "") + ',';
    text += fmt::format("{},{},{},{}\n", point.violations, csv_cell(point.problem),
                        csv_cell(point.replay), csv_cell(point.reason));
  }
  return text;
}

}  // namespace attest::reports
