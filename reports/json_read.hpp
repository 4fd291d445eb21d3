// The parts of the report model from JSON of anybody. Internal to this room. A member that is
// missing has its default, so that an older reader takes a newer file; one of a wrong type is an
// error, thrown as BadLine and caught where lines are read.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "reports/json_write.hpp"

namespace attest::reports {

struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An object whose members are looked up by name. It must outlive this.
class Fields {
 public:
  explicit Fields(const Json& json, std::string_view what = "line");

  bool has(const char* name) const { return json_.contains(name); }
  std::string text(const char* name) const;         ///< missing: empty
  std::string needed_text(const char* name) const;  ///< missing: an error
  std::int64_t integer(const char* name) const;     ///< missing: 0
  std::int64_t count(const char* name) const;       ///< the same, at least 0
  /// Words for what JSON cannot say ("inf", "nan").
  double number(const char* name, double missing = 0) const;
  bool flag(const char* name) const;
  std::uint64_t seed(const char* name) const;
  /// Null when missing; an error when it is no array, or no object.
  const Json* array(const char* name) const;
  const Json* object(const char* name) const;

  [[noreturn]] void refuse(const char* name, std::string_view why) const;

 private:
  const Json& json_;
  std::string_view what_;
};

double number_of(const Json& json);

CaseResult case_of(const Json& json);
LawRow law_of(const Json& json);
Violation violation_of(const Json& json);
Environment environment_of(const Json& json);
AccuracyRow accuracy_row_of(const Json& json);
StatisticsRow statistics_of(const Json& json);
HeatMap heat_map_of(const Json& json);
BitEquality bit_equality_of(const Json& json);
PowerCount power_of(const Json& json);
SweepPoint sweep_point_of(const Json& json);
RunHeader run_header_of(const Json& json);

}  // namespace attest::reports
