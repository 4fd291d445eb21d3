#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cli/run_output.hpp"
#include "reports/run_history.hpp"

namespace attest::cli {
namespace {

using reports::RunFormat;

Result<RunFormat> format_of(const ReportOptions& options) {
  if (options.comment) {
    if (options.format.empty() || options.format == "md") return RunFormat::markdown;
    return invalid_argument("--comment is Markdown, not " + options.format);
  }
  if (!options.format.empty()) {
    if (const auto format = reports::format_of_name(options.format)) return *format;
    return invalid_argument(
        fmt::format("unknown format '{}'; known: {}", options.format, reports::kFormatNames));
  }
  if (options.out == "-") return RunFormat::text;
  if (const auto format = reports::format_of_file(options.out)) return *format;
  return invalid_argument(
      fmt::format("{}: its ending is none of .html .md .json .jsonl .xml .sarif .csv .txt; "
                  "--format says what it shall be",
                  options.out));
}

}  // namespace

int report_command(const ReportOptions& options) {
  const Result<RunFormat> format = format_of(options);
  if (!format.ok()) return usage(format.status().message());
  const std::vector<std::filesystem::path> runs(options.runs.begin(), options.runs.end());
  Status status;
  if (format.value() == RunFormat::csv) {
    status = write_csv(options.out, runs);
  } else {
    const auto history = reports::read_runs(runs);
    if (!history.ok()) return usage(history.status().message());
    status = write_text(options.out,
                        options.comment ? render_run_markdown(history.value(), reports::kMaxComment)
                                        : render_run(format.value(), history.value()));
  }
  return status.ok() ? all_good : usage(status.message());
}

}  // namespace attest::cli
