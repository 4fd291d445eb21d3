#include "cli/run_formats.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "cli/file_output.hpp"
#include "cli/run_output.hpp"
#include "reports/render_run.hpp"

namespace attest::cli {
namespace {

Status write_format(const Format& format, const EndedRun& run) {
  const std::string file = format.file.empty() ? "-" : format.file;
  const std::filesystem::path lines = run.folder / "run.jsonl";
  if (format.name == "csv") return write_csv(file, {lines});
  if (format.name == "text") return write_text(file, run.text);
  if (format.name == "jsonl") {
    std::ifstream stream(lines, std::ios::binary);
    return write_text(file, std::string(std::istreambuf_iterator<char>(stream), {}));
  }
  return write_text(file, render_run(*reports::format_of_name(format.name), run.history));
}

}  // namespace

Result<std::vector<Format>> parse_formats(const std::vector<std::string>& texts) {
  std::vector<Format> formats;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    Format format{text.substr(0, equals),
                  equals == std::string::npos ? "" : text.substr(equals + 1)};
    if (!reports::format_of_name(format.name))
      return invalid_argument(fmt::format("unknown format '{}'; known: {}, each also as NAME=FILE",
                                          format.name, reports::kFormatNames));
    if (equals != std::string::npos && format.file.empty())
      return invalid_argument("--format " + format.name + "= needs a file name");
    formats.push_back(std::move(format));
  }
  return formats;
}

bool prints_text(const std::vector<Format>& formats) {
  const auto prints = [&](auto&& is) {
    return std::any_of(formats.begin(), formats.end(),
                       [&](const Format& format) { return format.file.empty() && is(format); });
  };
  return prints([](const Format& format) { return format.name == "text"; }) ||
         !prints([](const Format&) { return true; });
}

Status write_pages(const EndedRun& run) {
  for (const auto& [name, text] : {std::pair{"summary.md", render_run_markdown(run.history)},
                                   std::pair{"report.html", render_run_html(run.history)}})
    if (Status status = write_file(run.folder / name, text); !status.ok()) return status;
  return {};
}

Status write_formats(const EndedRun& run, const std::vector<Format>& formats) {
  for (const Format& format : formats) {
    if (format.name == "text" && format.file.empty()) continue;
    if (Status status = write_format(format, run); !status.ok()) return status;
  }
  return {};
}

}  // namespace attest::cli
