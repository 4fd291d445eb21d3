// Runs as the program writes them, for the tests of reading and rendering.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "reports/run_builder.hpp"
#include "reports/run_lines.hpp"
#include "reports/test_models.hpp"

namespace attest::reports::test {

struct WrittenRun {
  std::string text;
  Run run;
};

/// Events go into a file's text and into a model, as while running.
class Writer {
 public:
  explicit Writer(const RunHeader& header) {
    builder_.begin(header);
    line(header_line(header));
  }
  void add(const CaseResult& result) {
    line(case_line(result));
    if (!builder_.add(result).ok()) line("contradiction");
  }
  void add(const Violation& violation) {
    line(violation_line(violation));
    builder_.add(violation);
  }
  void add(const AccuracyRow& row) {
    line(accuracy_line(row));
    builder_.add(row);
  }
  void add(const StatisticsRow& row) {
    line(statistics_line(row, kOfLaws));
    builder_.add_statistics(row, false);
  }
  void add(const PowerCount& row, const std::string& kernel) {
    line(power_count_line(row, kernel));
    builder_.add_power(row, kernel);
  }
  void add(const BitEquality& row) {
    line(bit_equality_line(row, kOfLaws));
    builder_.add_bit_equality(row, false);
  }
  void add(const HeatMap& heat) {
    line(heat_map_line(heat, kOfLaws));
    builder_.add_heat_map(heat, false);
  }
  void add(const SweepReport& of, const SweepPoint& point) {
    line(sweep_line(of, point));
    builder_.add_sweep_point(of, point);
  }
  void end_check(const CheckReport& end) {
    builder_.end_check(end);
    line(check_line(builder_.check_of(end.kernel)));
  }
  WrittenRun finish() {
    builder_.end({false, 12.5, "", ""});
    line(summary_line(builder_.run()));
    return {std::move(text_), builder_.finish()};
  }

 private:
  void line(const std::string& text) { text_ += text + '\n'; }

  std::string text_;
  RunBuilder builder_;
};

inline RunHeader run_header(const std::string& kernel, const std::string& started) {
  RunHeader header;
  header.command = "attest check " + kernel;
  header.started = started;
  header.kernels = {{kernel, "1.0", "f32 | causal br", "src/kernels/registry.cpp", 0}};
  header.seed = 0x5EED1A77;
  header.tier = "ci";
  header.jobs = 2;
  header.laws = {{"bound.out", "Outputs lie within the bound.", "|o' - o| <= B"},
                 {"law.window", "A window has its edges.", "j >= p - L"}};
  header.environment = {{"attest", "0.1.0"}, {"commit", "abc123"}, {"cpu", "a | b"}};
  return header;
}

inline CaseResult passed_case(const std::string& kernel, std::int64_t number) {
  CaseResult result;
  result.kernel = kernel;
  result.law = number % 3 == 0 ? "law.window" : "bound.out";
  result.number = number;
  result.dtype = number % 2 == 0 ? "f32" : "bf16";
  result.mask = number % 5 == 0 ? "causal" : "none";
  result.variant = number % 5 == 0 ? "mask causal" : "plain";
  result.keys = 1 + (number * 37) % 4096;
  result.problem = "1x2:8x" + std::to_string(result.keys) + ":64 " + result.dtype;
  result.verdict.worst_ratio = 0.001 * static_cast<double>((number * 7919) % 997);
  result.verdict.values_compared = 64;
  result.ulp = 0.01 * static_cast<double>((number * 31) % 211);
  result.seconds = 0.001;
  result.replay = "attest replay " + kernel + " '" + result.problem + " law=" + result.law + "'";
  result.seed = 0x5EED1A77;
  return result;
}

inline CheckReport check_end(const std::string& kernel) {
  CheckReport end;
  end.kernel = kernel;
  end.seconds = 1.5;
  end.distribution = "mask causal 38 %";
  end.out_directory = "attest-out/one";
  return end;
}

/// A run with something of every kind of line, a violation among it.
inline WrittenRun written_run(const std::string& kernel = "builtin:tiled") {
  Writer writer(run_header(kernel, "2026-12-01T07:33:01Z"));
  AccuracyRow tensor = accuracy_row(kernel, "layer0", 0.75);
  tensor.replay = "attest replay " + kernel + " '1x2:8x8:4 f32 vals=real:layer0:0 law=bound.out'";
  writer.add(tensor);
  for (std::int64_t number = 0; number < 40; ++number) writer.add(passed_case(kernel, number));
  Violation found = violation();
  found.found.kernel = found.shrunk.kernel = kernel;
  writer.add(found.found);
  writer.add(found);
  ErrorStatistics errors;
  for (const double error : {0.25, -0.75, 3.0}) errors.add(error, error == 0.25);
  errors.bias.add(0.5);
  errors.bias.add(-0.25);
  writer.add(StatisticsRow{kernel, "f32", "out", errors});
  writer.add(StatisticsRow{kernel, "f32", "out", errors});
  writer.add(PowerCount{"zeros", "bound.out", 40, 1}, kernel);
  writer.add(BitEquality{kernel, "f32", "rerun", 10, 0, true, ""});
  writer.add(HeatMap{kernel,
                     "bound.out",
                     "1x1:2x4:1 f32",
                     "attest replay x",
                     "out",
                     {"b0 h0 q0", "b0 h0 q1"},
                     {0, 2, 4},
                     1,
                     2,
                     {0.5, std::nan(""), 0.25, 0.75},
                     ""});
  SweepReport sweep;
  sweep.kernel = kernel;
  sweep.over = "lk";
  sweep.base = "1x1:1x64:64 f32";
  SweepPoint point;
  point.x = "64";
  point.number = 64;
  point.dtype = "f32";
  point.ratio = 0.5;
  writer.add(sweep, point);
  writer.end_check(check_end(kernel));
  return writer.finish();
}

/// Cases 0 to 99, those of one part.
inline WrittenRun written_checks(int index, int count,
                                 const std::string& started = "2026-12-01T07:33:01Z") {
  RunHeader header = run_header("builtin:tiled", started);
  header.shard = {index, count};
  Writer writer(header);
  for (std::int64_t number = index - 1; number < 100; number += count)
    writer.add(passed_case("builtin:tiled", number));
  writer.end_check(check_end("builtin:tiled"));
  return writer.finish();
}

}  // namespace attest::reports::test
