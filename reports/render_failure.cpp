// The two blocks of a failure: as drawn, printed before shrinking starts, and the smallest one.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "reports/escape.hpp"
#include "reports/numbers.hpp"
#include "reports/render_case.hpp"
#include "reports/report_tables.hpp"

namespace attest::reports {
namespace {

/// "  problem   text": names padded to one column inside a block.
void append_item(std::string& text, std::string_view name, std::string_view value) {
  text += fmt::format("  {:<8}  {}\n", name, value);
}

std::string upper_case(std::string_view word) {
  std::string result(word);
  for (char& letter : result) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return result;
}

void append_reason_and_spread(std::string& text, const Verdict& verdict) {
  if (!verdict.reason.empty()) append_item(text, "reason", plain_text(verdict.reason));
  if (verdict.rows_checked > 0) {
    append_item(text, "spread",
                fmt::format("{} of {} rows wrong", verdict.rows_wrong, verdict.rows_checked));
  }
}

void append_acts_like(std::string& text, const CaseResult& result) {
  if (!result.acts_like.empty())
    text += fmt::format("  acts like {}\n", plain_text(result.acts_like));
}

void append_witness(std::string& text, const Witness& witness) {
  append_item(text, "element", witness_element(witness));
  append_item(text, "got",
              fmt::format("{}  ({})", decimal_text(witness.got), hexadecimal_text(witness.got)));
  append_item(text, "want", decimal_text(witness.want));
  append_item(text, "", fmt::format("({})", hexadecimal_text(witness.want)));
  append_item(text, "error", magnitude_text(witness.error));
  append_item(text, "bound", magnitude_text(witness.bound));
  if (witness.bound > 0) {
    append_item(text, "ratio", ratio_text(witness.error / witness.bound) + " x bound");
  }
}

void append_values(std::string& text, std::string_view values) {
  while (!values.empty()) {
    const std::size_t end = std::min(values.find('\n'), values.size());
    text += "  " + plain_text(values.substr(0, end)) + '\n';
    values.remove_prefix(std::min(end + 1, values.size()));
  }
}

std::string shrinking_text(const Violation& violation) {
  if (violation.shrink_tries == 0) return "not tried";
  return fmt::format("{} tried, {} kept, {}", violation.shrink_tries, violation.shrink_kept,
                     violation.shrink_finished ? "finished" : "stopped early, smaller may exist");
}

}  // namespace

std::string witness_element(const Witness& witness) {
  const std::string row =
      fmt::format("{},{},{}", witness.row.batch, witness.row.head, witness.row.query);
  const std::string tensor = plain_text(witness.tensor);
  if (witness.tensor == "dsink") return fmt::format("{}[{}]", tensor, witness.row.head);
  if (witness.tensor == "lse" && witness.column == 0) return fmt::format("{}[{}]", tensor, row);
  return fmt::format("{}[{},{}]", tensor, row, witness.column);
}

std::string render_found_text(const CaseResult& found) {
  return fmt::format("{} {}  case {}  seed {}\n", upper_case(to_string(found.verdict.outcome)),
                     plain_text(found.law), found.number, seed_text(found.seed)) +
         render_case_text(found);
}

std::string render_case_text(const CaseResult& found) {
  const Verdict& verdict = found.verdict;
  std::string text;
  append_item(text, "problem", plain_text(found.problem));
  if (verdict.witness) {
    const Witness& witness = *verdict.witness;
    std::string line = fmt::format("{}  got {}  want {}  err {}  bound {}",
                                   witness_element(witness), decimal_text(witness.got),
                                   value_beside(witness.want.high + witness.want.low, witness.got),
                                   magnitude_text(witness.error), magnitude_text(witness.bound));
    if (witness.bound > 0) {
      line += fmt::format("  ({} x bound)", ratio_text(witness.error / witness.bound));
    }
    append_item(text, "element", line);
  }
  append_reason_and_spread(text, verdict);
  append_acts_like(text, found);
  return text;
}

std::string render_shrunk_text(const Violation& violation) {
  const CaseResult& smallest = violation.shrunk.law.empty() ? violation.found : violation.shrunk;
  std::string text = fmt::format("shrinking  {}\n", shrinking_text(violation));
  append_item(text, "problem", plain_text(smallest.problem));
  append_values(text, violation.values);
  if (smallest.verdict.witness) append_witness(text, *smallest.verdict.witness);
  append_reason_and_spread(text, smallest.verdict);
  append_acts_like(text, smallest);
  const std::string& replay = smallest.replay.empty() ? violation.found.replay : smallest.replay;
  if (!replay.empty()) text += fmt::format("replay     {}\n", plain_text(replay));
  if (!violation.saved.empty()) text += fmt::format("saved      {}\n", plain_text(violation.saved));
  return text;
}

std::string render_violation_text(const Violation& violation) {
  return render_found_text(violation.found) + '\n' + render_shrunk_text(violation);
}

}  // namespace attest::reports
