// Reads run.jsonl line by line. Memory is bounded by the length of a line, whatever the file
// holds; what is damaged or foreign is one line of message that begins with FILE:LINE.
#pragma once

#include <functional>
#include <istream>
#include <string>

#include "attest/status.hpp"
#include "reports/run_builder.hpp"

namespace attest::reports {

/// Longer lines are refused. attest writes none of half this length.
inline constexpr std::size_t kMaxRunLine = std::size_t{1} << 22;
/// A problem, values or replay line that is longer is cut, or left out, before it is written.
inline constexpr std::size_t kMaxRunText = std::size_t{1} << 18;

/// The next line without its end. `whole` is false where the file ends before the line does; the
/// result is false where there is no line, or none that is short enough (`too_long`).
class LineReader {
 public:
  explicit LineReader(std::istream& stream) : stream_(stream) {}
  bool next(std::string& line);
  bool whole() const { return whole_; }
  bool too_long() const { return too_long_; }
  std::int64_t number() const { return number_; }  ///< of the last line, from 1

 private:
  std::istream& stream_;
  std::int64_t number_ = 0;
  bool whole_ = true;
  bool too_long_ = false;
};

/// The first line alone. `name` is that of the file, for messages.
Result<RunHeader> read_run_header(std::istream& stream, const std::string& name);

using CaseHook = std::function<void(const CaseResult&)>;

/// Adds one file to a model; `on_case` sees every case that is counted, or is null. A last line
/// that is cut is left out. Without its summary the run is unfinished.
Status read_run(std::istream& stream, const std::string& name, RunBuilder& into,
                const CaseHook& on_case = {});

}  // namespace attest::reports
