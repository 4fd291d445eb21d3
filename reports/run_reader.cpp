#include "reports/run_reader.hpp"

#include <fmt/format.h>

#include <map>

#include "reports/json_read.hpp"
#include "reports/run_lines.hpp"

namespace attest::reports {
namespace {

/// Twice the levels of the deepest line that attest writes.
constexpr int kMostLevels = 12;

/// Null where the line is no object.
Json parse_line(const std::string& line) {
  bool too_deep = false;
  const Json::parser_callback_t callback = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMostLevels;
    return depth <= kMostLevels;
  };
  Json json = Json::parse(line, callback, false);
  if (too_deep || !json.is_object()) return nullptr;
  return json;
}

Status bad(const std::string& name, std::int64_t line, std::string_view why) {
  return invalid_argument(fmt::format("{}:{}: {}", name, line, why));
}

bool of_tensors(const Fields& fields) {
  return fields.text("of") == kOfTensors;
}

CheckReport check_end_of(const Fields& fields) {
  CheckReport end;
  end.kernel = fields.needed_text("kernel");
  end.interrupted = fields.flag("interrupted");
  end.unfinished = fields.text("unfinished");
  end.distribution = fields.text("distribution");
  end.seconds = fields.number("seconds");
  end.out_directory = fields.text("out_directory");
  if (const Json* const lines = fields.array("ledger"))
    for (const Json& line : *lines)
      if (line.is_string()) end.ledger.push_back(line.get<std::string>());
  return end;
}

/// One file on its way into the builder.
class File {
 public:
  File(RunBuilder& into, const CaseHook& on_case) : into_(into), on_case_(on_case) {}

  void begin(const Json& json) {
    const RunHeader header = run_header_of(json);
    condensed_ = header.condensed;
    seed_ = header.seed;
    into_.begin(header);
  }

  /// Throws BadLine. False: the type is not known; a newer attest wrote it.
  bool take(const Json& json) {
    if (ended_) throw BadLine("there is more after the summary");
    static const std::map<std::string, void (File::*)(const Json&), std::less<>> kTypes{
        {"case", &File::take_case},         {"violation", &File::take_violation},
        {"accuracy", &File::take_accuracy}, {"statistics", &File::take_statistics},
        {"power", &File::take_power},       {"bits", &File::take_bits},
        {"heat", &File::take_heat},         {"check", &File::take_check},
        {"sweep", &File::take_sweep},       {"summary", &File::take_summary}};
    const auto found = kTypes.find(Fields(json).needed_text("type"));
    if (found == kTypes.end()) return false;
    (this->*found->second)(json);
    return true;
  }

  bool ended() const { return ended_; }

 private:
  void take_case(const Json& json) {
    CaseResult result = case_of(json);
    if (!json.contains("seed")) result.seed = seed_;
    ++cases_;
    const Result<bool> added = into_.add(result);
    if (!added.ok()) throw BadLine(added.status().message());
    if (added.value() && on_case_) on_case_(result);
  }
  void take_violation(const Json& json) { into_.add(violation_of(json)); }
  void take_accuracy(const Json& json) { into_.add(accuracy_row_of(json)); }
  void take_statistics(const Json& json) {
    into_.add_statistics(statistics_of(json), of_tensors(Fields(json)));
  }
  void take_power(const Json& json) {
    into_.add_power(power_of(json), Fields(json).text("kernel"));
  }
  void take_bits(const Json& json) {
    into_.add_bit_equality(bit_equality_of(json), of_tensors(Fields(json)));
  }
  void take_heat(const Json& json) {
    into_.add_heat_map(heat_map_of(json), of_tensors(Fields(json)));
  }
  void take_check(const Json& json) { into_.end_check(check_end_of(Fields(json))); }
  void take_sweep(const Json& json) {
    const Fields fields(json);
    SweepReport of;
    of.kernel = fields.needed_text("kernel");
    of.over = fields.text("over");
    of.base = fields.text("base");
    into_.add_sweep_point(of, sweep_point_of(json));
  }
  void take_summary(const Json& json) {
    const Fields fields(json, "summary");
    const std::int64_t counted = fields.count("cases");
    if (condensed_)
      take_laws(fields, counted);
    else if (fields.has("cases") && counted != cases_)
      throw BadLine(fmt::format("the summary counts {} cases, but {} are here", counted, cases_));
    into_.end({fields.flag("interrupted"), fields.number("seconds"), fields.text("oracle"),
               fields.text("unfinished")});
    ended_ = true;
  }
  void take_laws(const Fields& fields, std::int64_t cases) {
    into_.set_total_cases(into_.run().cases.total() - cases_ + cases);
    const Json* const laws = fields.array("laws");
    if (laws == nullptr) return;
    for (const Json& law : *laws) into_.add_law(Fields(law).needed_text("kernel"), law_of(law));
  }

  RunBuilder& into_;
  const CaseHook& on_case_;
  std::int64_t cases_ = 0;
  std::uint64_t seed_ = 0;
  bool condensed_ = false;
  bool ended_ = false;
};

/// The object of the first line, or why this is no run that can be read.
Result<Json> first_object(LineReader& lines, const std::string& name) {
  std::string line;
  if (!lines.next(line))
    return bad(name, 1, lines.too_long() ? "not a run.jsonl of attest" : "the file is empty");
  const Json json = parse_line(line);
  if (!lines.whole() && json.is_null()) return bad(name, 1, "nothing of the run was written yet");
  const auto format = json.is_object() ? json.find("format") : json.end();
  if (!json.is_object() || format == json.end() || *format != "attest-run")
    return bad(name, 1, "not a run.jsonl of attest");
  const auto version = json.find("version");
  if (version == json.end() || *version != kRunVersion)
    return bad(
        name, 1,
        fmt::format("another version of run.jsonl; this attest reads version {}", kRunVersion));
  return json;
}

}  // namespace

bool LineReader::next(std::string& line) {
  line.clear();
  if (too_long_) return false;
  std::streambuf& bytes = *stream_.rdbuf();
  constexpr int kEnd = std::streambuf::traits_type::eof();
  for (int byte = bytes.sbumpc(); byte != kEnd; byte = bytes.sbumpc()) {
    if (byte == '\n') {
      ++number_;
      return true;
    }
    if (line.size() == kMaxRunLine) {
      ++number_;
      too_long_ = true;
      return false;
    }
    line += static_cast<char>(byte);
  }
  whole_ = false;
  if (line.empty()) return false;
  ++number_;
  return true;
}

Result<RunHeader> read_run_header(std::istream& stream, const std::string& name) {
  LineReader lines(stream);
  const Result<Json> json = first_object(lines, name);
  if (!json.ok()) return json.status();
  try {
    return run_header_of(json.value());
  } catch (const BadLine& problem) {
    return bad(name, 1, problem.what());
  }
}

Status read_run(std::istream& stream, const std::string& name, RunBuilder& into,
                const CaseHook& on_case) {
  LineReader lines(stream);
  const Result<Json> first = first_object(lines, name);
  if (!first.ok()) return first.status();
  File file(into, on_case);
  try {
    file.begin(first.value());
    std::string line;
    while (lines.next(line)) {
      const Json json = parse_line(line);
      // A kill cuts the last line, and only that.
      if (json.is_null() && !lines.whole()) break;
      if (json.is_null()) return bad(name, lines.number(), "this line is damaged");
      file.take(json);
    }
  } catch (const BadLine& problem) {
    return bad(name, lines.number(), problem.what());
  }
  if (lines.too_long())
    return bad(name, lines.number(), fmt::format("longer than {} bytes", kMaxRunLine));
  if (!file.ended()) into.end_unfinished();
  return {};
}

}  // namespace attest::reports
