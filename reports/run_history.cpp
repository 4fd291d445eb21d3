#include "reports/run_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <tuple>

#include "reports/run_lines.hpp"

namespace attest::reports {
namespace {

namespace fs = std::filesystem;

struct RunFile {
  fs::path path;
  RunHeader header;
  std::uintmax_t size = 0;
};

/// Files that are one run: a run alone, or its shards.
using RunGroup = std::vector<RunFile>;

Status unreadable(const fs::path& path, std::string_view why) {
  return {StatusCode::io_error, fmt::format("{}: {}", path.string(), why)};
}

Result<RunFile> open_run(const fs::path& given) {
  std::error_code error;
  const fs::path path = fs::is_directory(given, error) ? given / "run.jsonl" : given;
  // Opening a pipe would wait for its other end.
  if (!fs::exists(path, error)) return unreadable(path, "does not exist");
  if (!fs::is_regular_file(path, error)) return unreadable(path, "is no file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return unreadable(path, "cannot be read");
  Result<RunHeader> header = read_run_header(stream, path.string());
  if (!header.ok()) return header.status();
  return RunFile{path, std::move(header).value(), fs::file_size(path, error)};
}

std::string kernels_text(const RunHeader& header) {
  std::string text = header.kind;
  for (const KernelEntry& kernel : header.kernels) text += '\n' + kernel.name;
  return text;
}

/// What the shards of one run have in common.
auto run_key(const RunHeader& header) {
  std::string versions;
  for (const KernelEntry& kernel : header.kernels) versions += kernel.version + '\n';
  std::string commit;
  for (const auto& [name, value] : header.environment)
    if (name == "commit") commit = value;
  return std::tuple{kernels_text(header), versions,          commit, header.seed, header.tier,
                    header.rule,          header.shard.count};
}

/// Copies of one run have the same first line.
void drop_copies(std::vector<RunFile>& files) {
  std::map<std::string, std::size_t> first;
  std::vector<RunFile> kept;
  for (RunFile& file : files) {
    const auto [known, fresh] = first.try_emplace(header_line(file.header), kept.size());
    if (fresh)
      kept.push_back(std::move(file));
    else if (file.size > kept[known->second].size)
      kept[known->second] = std::move(file);
  }
  files = std::move(kept);
}

/// In order of time. A second run of a shard begins another group.
std::vector<RunGroup> grouped(std::vector<RunFile> files) {
  std::stable_sort(files.begin(), files.end(), [](const RunFile& a, const RunFile& b) {
    return a.header.started < b.header.started;
  });
  std::vector<RunGroup> groups;
  for (RunFile& file : files) {
    const auto takes = [&](const RunGroup& group) {
      return file.header.shard.count > 1 && run_key(group.front().header) == run_key(file.header) &&
             std::none_of(group.begin(), group.end(), [&](const RunFile& one) {
               return one.header.shard == file.header.shard;
             });
    };
    const auto found = std::find_if(groups.begin(), groups.end(), takes);
    if (found != groups.end())
      found->push_back(std::move(file));
    else
      groups.push_back({std::move(file)});
  }
  return groups;
}

Status read_group(const RunGroup& group, RunBuilder& into, const CaseHook& on_case) {
  for (const RunFile& file : group) {
    std::ifstream stream(file.path, std::ios::binary);
    if (!stream) return unreadable(file.path, "cannot be read");
    if (Status status = read_run(stream, file.path.string(), into, on_case); !status.ok())
      return status;
    if (stream.bad()) return unreadable(file.path, "cannot be read");
  }
  return {};
}

/// The groups that are the report: the latest of each list of kernels.
std::vector<bool> latest_of_kernels(const std::vector<RunGroup>& groups) {
  std::vector<bool> latest(groups.size(), false);
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < groups.size(); ++i) last[kernels_text(groups[i].front().header)] = i;
  for (const auto& [kernels, i] : last) latest[i] = true;
  return latest;
}

}  // namespace

Result<RunHistory> read_runs(const std::vector<fs::path>& paths, const CaseHook& on_case) {
  std::vector<RunFile> files;
  for (const fs::path& path : paths) {
    Result<RunFile> file = open_run(path);
    if (!file.ok()) return file.status();
    files.push_back(std::move(file).value());
  }
  drop_copies(files);
  const std::vector<RunGroup> groups = grouped(std::move(files));
  const std::vector<bool> latest = latest_of_kernels(groups);
  RunHistory history;
  std::vector<Run> done;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    RunBuilder builder(groups[i].size() > 1);
    if (Status status = read_group(groups[i], builder, latest[i] ? on_case : CaseHook{});
        !status.ok())
      return status;
    Run run = builder.finish();
    for (RunPoint& point : points_of(run)) history.points.push_back(std::move(point));
    if (latest[i]) done.push_back(std::move(run));
  }
  history.latest = merged(std::move(done));
  return history;
}

}  // namespace attest::reports
