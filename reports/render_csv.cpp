// Cases as a table for spreadsheets and scripts.
#include <fmt/format.h>

#include "reports/escape.hpp"
#include "reports/numbers.hpp"
#include "reports/render_run.hpp"

namespace attest::reports {
namespace {

std::string row_of(std::initializer_list<std::string> cells) {
  std::string row;
  for (const std::string& cell : cells) {
    if (!row.empty()) row += ',';
    row += cell;
  }
  return row + "\r\n";
}

/// All digits, and words for what has none.
std::string number_cell(double value) {
  return decimal_text(value);
}

}  // namespace

std::string csv_header() {
  return "kernel,law,case,problem,dtype,mask,keys,outcome,reason,ratio,ulp,seconds,seed,replay\r\n";
}

std::string csv_row(const CaseResult& result) {
  return row_of({csv_cell(result.kernel), csv_cell(result.law), fmt::format("{}", result.number),
                 csv_cell(result.problem), csv_cell(result.dtype), csv_cell(result.mask),
                 fmt::format("{}", result.keys), std::string(to_string(result.verdict.outcome)),
                 csv_cell(result.verdict.reason), number_cell(result.verdict.worst_ratio),
                 number_cell(result.ulp), number_cell(result.seconds), seed_text(result.seed),
                 csv_cell(result.replay)});
}

}  // namespace attest::reports
