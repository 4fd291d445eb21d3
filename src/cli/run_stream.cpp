#include "cli/run_stream.hpp"

#include <fmt/chrono.h>

#include <ctime>
#include <utility>

#include "cli/declares.hpp"
#include "cli/environment.hpp"
#include "reports/run_lines.hpp"
#include "reports/run_reader.hpp"

namespace attest::cli {
namespace {

/// The file of the repository that lists the kernel.
std::string source_of(std::string_view name) {
  return name.starts_with("mutant:") ? "properties/mutants/mutants.cpp"
                                     : "src/kernels/registry.cpp";
}

/// A problem may list a mask bit by bit; half a replay line replays something else.
void bound_texts(reports::CaseResult& result) {
  if (result.problem.size() > reports::kMaxRunText) result.problem.resize(reports::kMaxRunText);
  if (result.replay.size() > reports::kMaxRunText) result.replay.clear();
}

}  // namespace

reports::RunHeader run_header(std::string_view kind, const std::vector<const Kernel*>& kernels,
                              const std::vector<const properties::Law*>& laws) {
  reports::RunHeader header;
  header.kind = kind;
  header.command = command_line();
  header.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  for (const Kernel* const kernel : kernels) {
    const KernelDescription& description = kernel->description();
    header.kernels.push_back({description.name, description.version, declares_text(*kernel),
                              source_of(description.name), 0});
  }
  for (const properties::Law* const law : laws)
    header.laws.push_back(
        {std::string(law->name), std::string(law->sentence), std::string(law->formula)});
  header.environment = environment();
  return header;
}

Result<RunStream> RunStream::open(const std::filesystem::path& folder,
                                  const reports::RunHeader& header) {
  RunStream stream;
  stream.builder_.begin(header);
  if (folder.empty()) return stream;
  stream.path_ = folder / "run.jsonl";
  Result<LineFile> file = LineFile::create(stream.path_);
  if (!file.ok()) return file.status();
  stream.lines_.emplace(std::move(file).value());
  stream.append(header_line(header));
  if (!stream.status_.ok()) return stream.status_;
  return stream;
}

void RunStream::append(const std::string& line) {
  if (!lines_ || !status_.ok() || lines_->append(line)) return;
  status_ = {StatusCode::io_error, "cannot write " + path_.string()};
}

void RunStream::add(reports::CaseResult result) {
  bound_texts(result);
  append(case_line(result));
  // One run does not contradict itself.
  [[maybe_unused]] const Result<bool> added = builder_.add(result);
}

void RunStream::add(reports::Violation violation) {
  bound_texts(violation.found);
  bound_texts(violation.shrunk);
  if (violation.values.size() > reports::kMaxRunText) violation.values.resize(reports::kMaxRunText);
  append(violation_line(violation));
  builder_.add(std::move(violation));
}

void RunStream::add(const reports::AccuracyRow& row) {
  append(accuracy_line(row));
  builder_.add(row);
}

void RunStream::add(const reports::Measurements& measured, const std::string& kernel) {
  const bool of_tensors = kernel.empty();
  const std::string_view of = of_tensors ? reports::kOfTensors : reports::kOfLaws;
  for (const reports::StatisticsRow& row : measured.statistics) {
    append(statistics_line(row, of));
    builder_.add_statistics(row, of_tensors);
  }
  for (const reports::PowerCount& row : measured.power) {
    append(power_count_line(row, kernel));
    builder_.add_power(row, kernel);
  }
  for (const reports::BitEquality& row : measured.bit_equality) {
    append(bit_equality_line(row, of));
    builder_.add_bit_equality(row, of_tensors);
  }
  if (!measured.heat_map) return;
  append(heat_map_line(*measured.heat_map, of));
  builder_.add_heat_map(*measured.heat_map, of_tensors);
}

void RunStream::add(const reports::SweepReport& of, const reports::SweepPoint& point) {
  append(sweep_line(of, point));
  builder_.add_sweep_point(of, point);
}

void RunStream::end_check(const reports::CheckReport& end) {
  builder_.end_check(end);
  append(check_line(builder_.check_of(end.kernel)));
}

reports::Run RunStream::finish(const reports::RunEnd& end) {
  builder_.end(end);
  append(summary_line(builder_.run()));
  return builder_.finish();
}

}  // namespace attest::cli
