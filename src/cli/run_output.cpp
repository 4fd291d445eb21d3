#include "cli/run_output.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/file_output.hpp"
#include "reports/run_history.hpp"

namespace attest::cli {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;

Status cannot_write(const std::string& file) {
  return {StatusCode::io_error, "cannot write " + (file == "-" ? "the output" : file)};
}

/// Text that is written piece by piece; the file appears when it is whole.
class Sink {
 public:
  explicit Sink(std::string file) : file_(std::move(file)) {
    if (file_ != "-") partial_ = std::make_unique<PartialFile>(file_);
  }
  void add(const std::string& text) {
    buffer_ += text;
    if (buffer_.size() >= kBuffer) flush();
  }
  Status finish() {
    flush();
    if (partial_ != nullptr) return partial_->finish();
    return std::fflush(stdout) == 0 ? Status{} : cannot_write(file_);
  }

 private:
  void flush() {
    if (partial_ != nullptr)
      partial_->append(buffer_);
    else
      fmt::print("{}", buffer_);
    buffer_.clear();
  }

  std::string file_;
  std::string buffer_;
  std::unique_ptr<PartialFile> partial_;
};

}  // namespace

Status write_text(const std::string& file, std::string_view text) {
  if (file != "-") return write_file(file, text);
  fmt::print("{}", text);
  return std::fflush(stdout) == 0 ? Status{} : cannot_write(file);
}

Status write_csv(const std::string& file, const std::vector<std::filesystem::path>& runs) {
  Sink sink(file);
  sink.add(reports::csv_header());
  const auto read = reports::read_runs(
      runs, [&](const reports::CaseResult& result) { sink.add(csv_row(result)); });
  if (!read.ok()) return read.status();
  return sink.finish();
}

reports::RunHistory history_of(reports::Run run) {
  reports::RunHistory history;
  history.points = points_of(run);
  history.latest = std::move(run);
  return history;
}

int exit_code_of(reports::RunOutcome outcome) {
  switch (outcome) {
    case reports::RunOutcome::violated:
      return violation;
    case reports::RunOutcome::undecided:
      return undecided;
    case reports::RunOutcome::passed:
      break;
  }
  return all_good;
}

int exit_code_of(reports::RunOutcome outcome, const std::vector<reports::CheckReport>& checks) {
  bool any = false;
  for (const reports::CheckReport& check : checks)
    for (const reports::Violation& violation : check.violations) {
      if (violation.found.verdict.outcome != Outcome::xpass) return exit_code_of(outcome);
      any = true;
    }
  return any ? static_cast<int>(known_passed) : exit_code_of(outcome);
}

}  // namespace attest::cli
