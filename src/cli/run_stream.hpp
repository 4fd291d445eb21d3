// run.jsonl while it grows, and the same run in memory: what a report shows that is made at the
// end is what one shows that reads the file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attest/kernel.hpp"
#include "cli/file_output.hpp"
#include "properties/laws.hpp"
#include "reports/run_builder.hpp"

namespace attest::cli {

/// The first line of a run that begins now. Seed, tier, jobs and shard are left to the caller.
reports::RunHeader run_header(std::string_view kind, const std::vector<const Kernel*>& kernels,
                              const std::vector<const properties::Law*>& laws);

class RunStream {
 public:
  /// Into FOLDER/run.jsonl; with an empty folder nothing is written.
  static Result<RunStream> open(const std::filesystem::path& folder,
                                const reports::RunHeader& header);

  void add(reports::CaseResult result);
  void add(reports::Violation violation);
  void add(const reports::AccuracyRow& row);
  /// Adds to what was measured before. `kernel` is empty for tensors.
  void add(const reports::Measurements& measured, const std::string& kernel);
  void add(const reports::SweepReport& of, const reports::SweepPoint& point);
  void end_check(const reports::CheckReport& end);
  reports::CheckReport& check_of(const std::string& kernel) { return builder_.check_of(kernel); }

  /// Writes the last line.
  reports::Run finish(const reports::RunEnd& end);

  /// Names the file once a line of it could not be written.
  const Status& status() const { return status_; }

 private:
  RunStream() = default;
  void append(const std::string& line);

  std::filesystem::path path_;
  std::optional<LineFile> lines_;
  reports::RunBuilder builder_;
  Status status_;
};

}  // namespace attest::cli
