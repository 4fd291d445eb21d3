#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/rows.hpp"

namespace attest::bench {
namespace {

using Cells = std::vector<std::string>;

std::string bytes_text(const std::optional<double>& bytes) {
  if (!bytes) return "-";
  if (*bytes < 1 << 20) return fmt::format("{:.0f} KiB", *bytes / 1024);
  return fmt::format("{:.1f} MiB", *bytes / (1 << 20));
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

std::string worst_text(const Row& row) {
  if (!row.worst) return "-";
  const bool beyond = row.role == Role::peer && *row.worst > 1;
  return fmt::format("{:.3g}{}", *row.worst, beyond ? " (> 1: undeclared)" : "");
}

Cells heading(const WorkloadTable& table) {
  return {table.workload, table.unit == Unit::gflops ? "GFLOP/s" : "GB/s",
          "quartiles",    "best",
          "wall",         "ms",
          "of limit",     "x best peer",
          "extra memory", "worst err/bound"};
}

Cells cells_of(const Row& row) {
  return {row.competitor,
          fmt::format("{:.1f}", row.rate.median),
          fmt::format("{:.1f} {:.1f}", row.rate.low, row.rate.high),
          fmt::format("{:.1f}", row.rate.least),
          fmt::format("{:.1f}", row.wall_rate),
          fmt::format("{:.3f}", row.seconds * 1e3),
          row.share_of_limit ? fmt::format("{:.1f} %", *row.share_of_limit * 100) : "-",
          ratio_text(row.times_best_peer),
          bytes_text(row.extra_bytes),
          worst_text(row)};
}

std::string aligned(const std::vector<Cells>& lines) {
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const Cells& cells : lines)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  std::string text;
  for (const Cells& cells : lines) {
    std::string line = fmt::format("{:<{}}", cells[0], widths[0]);
    for (std::size_t i = 1; i < cells.size(); ++i)
      line += fmt::format("  {:>{}}", cells[i], widths[i]);
    text += line + "\n";
  }
  return text;
}

std::string markdown(const std::vector<Cells>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += "|";
    for (const std::string& cell : lines[i]) text += " " + cell + " |";
    text += "\n";
    if (i != 0) continue;
    text += "|---|";
    for (std::size_t c = 1; c < lines[i].size(); ++c) text += "---:|";
    text += "\n";
  }
  return text;
}

std::string laid_out(const std::vector<Cells>& lines, Format format) {
  return (format == Format::markdown ? markdown(lines) : aligned(lines)) + "\n";
}

std::string note_lines(const std::vector<std::string>& notes, Format format) {
  std::string text;
  for (const std::string& note : notes)
    text += (format == Format::markdown ? "- " : "  ") + note + "\n";
  return text.empty() ? text : text + "\n";
}

/// Time per key and extra memory of every competitor of the growth workloads.
std::string growth(const Report& report, Format format) {
  std::map<std::string, std::map<Index, Cells>> times;
  std::map<Index, bool> lengths;
  for (const WorkloadTable& table : report.tables) {
    if (!table.workload.starts_with("growth/")) continue;
    lengths[table.keys] = true;
    for (const Row& row : table.rows)
      if (row.role != Role::limit)
        times[row.competitor][table.keys] = {
            fmt::format("{:.2f}", row.seconds * 1e9 / static_cast<double>(table.keys)),
            bytes_text(row.extra_bytes)};
  }
  if (lengths.size() < 2) return {};
  Cells head{"growth: ns a key"};
  for (const auto& [keys, present] : lengths) {
    head.push_back(fmt::format("T{}", keys));
    head.emplace_back("memory");
  }
  std::vector<Cells> lines{std::move(head)};
  for (const auto& [competitor, of] : times) {
    Cells line{competitor};
    for (const auto& [keys, present] : lengths) {
      const auto found = of.find(keys);
      const Cells cells = found == of.end() ? Cells{"-", "-"} : found->second;
      line.insert(line.end(), cells.begin(), cells.end());
    }
    lines.push_back(std::move(line));
  }
  return laid_out(lines, format);
}

constexpr const char* kLegend =
    "rates and ms by CPU time of the calling thread (wall: by the wall clock; two threads: all by\n"
    "it), medians of repetitions in turns; of limit: of the FMA peak or the read rate in the same\n"
    "table; x best peer: of the best complete attention of another library; extra memory: rise of\n"
    "the peak resident memory in the first call of a new process, and prepared scores; worst\n"
    "err/bound: a kernel by the accuracy that it declares, others by that of plain f32 "
    "arithmetic\n";

}  // namespace

std::string render_header(const Report& report, Format format) {
  std::string text;
  for (const auto& [name, value] : report.header)
    text += format == Format::markdown ? fmt::format("- {}: {}\n", name, value)
                                       : fmt::format("{:<22} {}\n", name, value);
  return text + "\n" + kLegend + "\n" + note_lines(report.notes, format);
}

std::string render_table(const WorkloadTable& table, Format format) {
  std::vector<Cells> lines{heading(table)};
  for (const Row& row : table.rows) lines.push_back(cells_of(row));
  std::string text = laid_out(lines, format);
  if (!table.notes.empty()) text.pop_back();
  return text + note_lines(table.notes, format);
}

std::string render_end(const Report& report, Format format) {
  return growth(report, format);
}

}  // namespace attest::bench
