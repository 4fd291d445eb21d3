// A run in every format. What came from a file, a kernel or a user is escaped for each of them.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "reports/run_model.hpp"

namespace attest::reports {

enum class RunFormat { text, markdown, accuracy, json, jsonl, junit, sarif, csv, html };

/// Of a name as in --format, or of what a file's name ends in; none for an unknown one.
std::optional<RunFormat> format_of_name(std::string_view name);
std::optional<RunFormat> format_of_file(std::string_view file);
/// All names, for a message.
inline constexpr std::string_view kFormatNames =
    "text, md, accuracy, json, jsonl, junit, sarif, csv, html";

/// What GitHub takes as a job summary, and as a comment, with room for what is written around it.
inline constexpr std::size_t kMaxSummary = (std::size_t{1} << 20) - 4096;
inline constexpr std::size_t kMaxComment = 60'000;

/// SARIF readers take no more results of one run.
inline constexpr std::size_t kMaxSarifResults = 5000;

/// Cases of the model, which may be a sample; CsvWriter has all of them.
std::string render_run(RunFormat format, const RunHistory& history);

std::string render_run_text(const RunHistory& history);
/// Below `most` bytes: what does not fit is counted in a line.
std::string render_run_markdown(const RunHistory& history, std::size_t most = kMaxSummary);
/// The largest known errors with their witnesses, in the manner of tables of libm accuracy.
std::string render_accuracy_table(const RunHistory& history);
std::string render_run_junit(const RunHistory& history);
std::string render_run_sarif(const RunHistory& history);
std::string render_run_html(const RunHistory& history);

/// RFC 4180. Spreadsheets run what begins like a formula: such a cell gets a quote in front.
std::string csv_header();
std::string csv_row(const CaseResult& result);

}  // namespace attest::reports
