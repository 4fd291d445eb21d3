#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/rows.hpp"

namespace attest::bench {
namespace {

using nlohmann::json;

const char* role_name(Role role) {
  switch (role) {
    case Role::limit:
      return "limit";
    case Role::part:
      return "part";
    case Role::peer:
      return "peer";
    case Role::subject:
      return "subject";
  }
  return "";
}

json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

json row_json(const Row& row) {
  return {{"competitor", row.competitor},
          {"role", role_name(row.role)},
          {"median", row.rate.median},
          {"quartiles", {row.rate.low, row.rate.high}},
          {"best", row.rate.least},
          {"median_by_wall_clock", row.wall_rate},
          {"seconds", row.seconds},
          {"repetitions", row.repetitions},
          {"share_of_limit", number(row.share_of_limit)},
          {"times_best_peer", number(row.times_best_peer)},
          {"extra_bytes", number(row.extra_bytes)},
          {"worst_error_over_bound", number(row.worst)}};
}

}  // namespace

std::string render_json(const Report& report) {
  json tables = json::array();
  for (const WorkloadTable& table : report.tables) {
    json rows = json::array();
    for (const Row& row : table.rows) rows.push_back(row_json(row));
    tables.push_back({{"workload", table.workload},
                      {"unit", table.unit == Unit::gflops ? "GFLOP/s" : "GB/s"},
                      {"clock", table.by_wall ? "wall" : "thread CPU"},
                      {"rows", std::move(rows)},
                      {"notes", table.notes}});
  }
  json header = json::object();
  for (const auto& [name, value] : report.header) header[name] = value;
  const json whole{{"header", header}, {"notes", report.notes}, {"workloads", tables}};
  return whole.dump(2) + "\n";
}

}  // namespace attest::bench
