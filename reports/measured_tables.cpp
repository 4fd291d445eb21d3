#include "reports/measured_tables.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reports/numbers.hpp"

namespace attest::reports {
namespace {

using Kind = Column::Kind;

std::string number(std::int64_t count) {
  return fmt::format("{}", count);
}

std::string share_text(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.2f} %",
                                  100 * static_cast<double>(part) / static_cast<double>(whole));
}

/// Signed, and the half width of its interval where there is one.
std::string bias_text(const SampleMeans& bias) {
  if (bias.count == 0) return "-";
  const double mean = bias.mean();
  std::string text = fmt::format("{}{}", mean < 0 ? "-" : "+", magnitude_text(std::abs(mean)));
  const double half = bias.half_width();
  return std::isfinite(half) ? text + " +- " + magnitude_text(half) : text;
}

}  // namespace

Table statistics_table(const Measurements& measured) {
  Table table;
  table.columns = {{"kernel", Kind::text},
                   {"dtype", Kind::text},
                   {"tensor", Kind::text},
                   {"outputs", Kind::number},
                   {"correctly rounded", Kind::number},
                   {"rms ulp", Kind::ratio},
                   {"largest ulp", Kind::ratio},
                   {"bias, ulp of the row", Kind::ratio}};
  for (const StatisticsRow& row : measured.statistics) {
    const ErrorStatistics& errors = row.errors;
    table.rows.push_back({row.kernel, row.dtype, row.tensor, number(errors.count),
                          share_text(errors.histogram[0], errors.measured()),
                          ratio_text(errors.rms()), ratio_text(errors.largest),
                          bias_text(errors.bias)});
  }
  return table;
}

Table power_table(const Measurements& measured) {
  Table table;
  table.columns = {{"stand-in", Kind::text},
                   {"law", Kind::text},
                   {"trials", Kind::number},
                   {"let pass", Kind::number},
                   {"power", Kind::number}};
  for (const PowerCount& row : measured.power)
    table.rows.push_back({row.stand_in, row.law, number(row.trials), number(row.accepted),
                          share_text(row.trials - row.accepted, row.trials)});
  return table;
}

Table bits_table(const Measurements& measured) {
  Table table;
  table.columns = {{"kernel", Kind::text},  {"dtype", Kind::text},    {"kind", Kind::text},
                   {"equal", Kind::number}, {"differ", Kind::number}, {"required", Kind::text},
                   {"note", Kind::text}};
  for (const BitEquality& row : measured.bit_equality)
    table.rows.push_back({row.kernel, row.dtype, row.kind, number(row.equal), number(row.differ),
                          row.required ? "yes" : "no", row.reason});
  return table;
}

Table sweep_table(const SweepReport& sweep) {
  Table table;
  table.columns = {
      {"kernel", Kind::text},      {"over", Kind::text},     {"x", Kind::text},
      {"dtype", Kind::text},       {"max err", Kind::ratio}, {"rms err", Kind::ratio},
      {"bias", Kind::ratio},       {"ulp max", Kind::ratio}, {"err/bound", Kind::ratio},
      {"twin ratio", Kind::ratio}, {"note", Kind::text}};
  for (const SweepPoint& point : sweep.points)
    table.rows.push_back({sweep.kernel, sweep.over, point.x, point.dtype,
                          magnitude_text(point.max_error), magnitude_text(point.rms_error),
                          bias_text(point.bias), ratio_text(point.ulp_max), ratio_text(point.ratio),
                          ratio_or_dash(point.twin_ratio), point.reason});
  return table;
}

Table history_table(const std::vector<RunPoint>& points) {
  Table table;
  table.columns = {{"started", Kind::text},      {"commit", Kind::text},
                   {"kernel", Kind::text},       {"cases", Kind::number},
                   {"violations", Kind::number}, {"worst err/bound", Kind::ratio},
                   {"rms ulp", Kind::ratio}};
  for (const RunPoint& point : points)
    table.rows.push_back({point.started, point.git, point.kernel, number(point.cases),
                          number(point.violations), ratio_text(point.worst_ratio),
                          ratio_or_dash(point.rms_ulp)});
  return table;
}

}  // namespace attest::reports
