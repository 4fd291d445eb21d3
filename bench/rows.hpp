// The result of a run: one row a competitor, one table a workload.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/call.hpp"
#include "bench/measure.hpp"

namespace attest::bench {

struct Row {
  std::string competitor;
  Role role = Role::peer;
  Quartiles rate;        ///< units of 10^9 a second; `least` is the best rate
  double wall_rate = 0;  ///< median by the wall clock
  double seconds = 0;    ///< median of one call
  int repetitions = 0;
  std::optional<double> share_of_limit;
  std::optional<double> times_best_peer;
  std::optional<double> extra_bytes;
  std::optional<double> worst;  ///< error / bound; nothing: not judged
};

struct WorkloadTable {
  std::string workload;
  Unit unit = Unit::gflops;
  Pass pass = Pass::forward;
  bool by_wall = false;
  Index keys = 0;
  std::vector<Row> rows;
  std::vector<std::string> notes;  ///< who has no row, and why
  bool violated = false;           ///< a subject has no row because of its results
};

struct Report {
  std::vector<std::pair<std::string, std::string>> header;
  std::vector<WorkloadTable> tables;
  std::vector<std::string> notes;
};

enum class Format { text, markdown, json };

/// The header, before anything is timed.
std::string render_header(const Report& report, Format format);
std::string render_table(const WorkloadTable& table, Format format);
/// Growth with the number of keys, and the notes of the whole run.
std::string render_end(const Report& report, Format format);
std::string render_json(const Report& report);

}  // namespace attest::bench
