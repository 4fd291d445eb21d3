// run.jsonl, version 2: one JSON object a line, each written when it is known. The first line is
// the environment, the last one the summary; a run that was killed has everything but the last.
//
//   environment  what runs, where, and the laws
//   case         one law on one case
//   violation    the same case, shrunk; after its `case` line
//   accuracy     one kernel on one tensor
//   statistics, power, bits, heat   what was measured since the last such line: lines add up;
//                "of" says whether on the cases of laws or on tensors
//   check        the laws of one kernel are done
//   sweep        one point of a sweep
//   summary      outcome and counts
//
// A condensed run (attest report -o FILE.jsonl) has the same form; its cases are a sample and the
// laws of its summary count all of them.
#pragma once

#include <string>

#include "reports/run_model.hpp"

namespace attest::reports {

inline constexpr int kRunVersion = 2;

/// Of what a measurement was made.
inline constexpr std::string_view kOfLaws = "laws";
inline constexpr std::string_view kOfTensors = "tensors";

// All are one line without a newline.
std::string header_line(const RunHeader& header);
std::string case_line(const CaseResult& result);
std::string violation_line(const Violation& violation);
std::string accuracy_line(const AccuracyRow& row);
std::string statistics_line(const StatisticsRow& row, std::string_view of);
std::string power_count_line(const PowerCount& row, std::string_view kernel);
std::string bit_equality_line(const BitEquality& row, std::string_view of);
std::string heat_map_line(const HeatMap& heat, std::string_view of);
std::string check_line(const CheckReport& report);
std::string sweep_line(const SweepReport& report, const SweepPoint& point);
std::string summary_line(const Run& run);

/// Bytes of the cases of a condensed run.
inline constexpr std::size_t kMaxCondensedCases = std::size_t{1} << 20;

/// The whole run in as few lines as its reports need.
std::string condensed_lines(const Run& run);

}  // namespace attest::reports
