// What results are: the form of the lse, rows without keys, and rows that nobody writes.
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"
#include "properties/judge.hpp"

namespace attest::probe {
namespace {

using properties::DiagnosedRun;
using properties::Expected;
using properties::Outputs;
using properties::RowPrediction;
using Kind = Expected::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void forget_output(RowPrediction& row) {
  for (Expected& element : row.output) element.kind = Kind::anything;
}

/// The lse alone: in base two or not, of the row's facts.
using LseOf = Enclosure (*)(const RowFacts&);

Hypothesis lse_is(std::string value, std::string words, LseOf of, double unit = 1) {
  return {std::move(value), std::move(words),
          changed_rows(as_asked(), [of, unit](const DiagnosedRun& run, const RowIndex& row,
                                              RowPrediction& prediction) {
            forget_output(prediction);
            const auto& exact = run.truth(row);
            if (!exact || !prediction.lse) return false;
            const Enclosure natural = of(exact->facts);
            const double slack = std::abs(natural.high) * 0x1p-40;
            prediction.lse = Expected{
                Kind::number, {natural.high / unit, 0, 0}, (exact->bound.lse + slack) / unit, {}};
            return true;
          })};
}

Enclosure whole_lse(const RowFacts& facts) {
  return facts.lse;
}
Enclosure maximum(const RowFacts& facts) {
  return {facts.score_max, 0, 0};
}
Enclosure without_maximum(const RowFacts& facts) {
  return {facts.log_sum, 0, 0};
}

Hypotheses lse_hypotheses() {
  const double two = std::numbers::ln2;
  return {lse_is("e", "lse=ln", whole_lse),
          lse_is("2", "lse=log2", whole_lse, two),
          lse_is("e, times ln 2 once more", "", whole_lse, 1 / two),
          lse_is("10", "", whole_lse, std::numbers::ln10),
          lse_is("the maximum alone", "", maximum),
          lse_is("the maximum alone, in base 2", "", maximum, two),
          lse_is("without the maximum", "", without_maximum)};
}

/// Rows without keys alone: their output, or their lse.
Hypothesis empty_rows(std::string value, std::string words, bool of_lse, Expected expected) {
  return {std::move(value), std::move(words),
          changed_rows(as_asked(), [of_lse, expected](const DiagnosedRun& run, const RowIndex& row,
                                                      RowPrediction& prediction) {
            if (!run.is_empty(row)) return false;
            for (Expected& element : prediction.output)
              element = of_lse ? Expected{Kind::anything, {}, 0, {}} : expected;
            if (prediction.lse)
              prediction.lse = of_lse ? expected : Expected{Kind::anything, {}, 0, {}};
            return true;
          })};
}

Hypothesis mean_of_v() {
  const auto mean = solves([](Case& of) {
    of.problem.all_masked = AllMaskedPolicy::mean;
    return true;
  });
  return {"mean of v", "empty=mean",
          changed_rows(mean,
                       [](const DiagnosedRun& run, const RowIndex& row, RowPrediction& prediction) {
                         if (prediction.lse) prediction.lse->kind = Kind::anything;
                         return run.is_empty(row) && run.problem().key_length(row.batch) > 0;
                       })};
}

Expected number(double value) {
  return {Kind::number, {value, 0, 0}, 0, {}};
}
const Expected kNan{Kind::nan, {}, 0, {}};
const Expected kUnwritten{Kind::unwritten, {}, 0, {}};

/// The same finite number in every row without keys; nothing otherwise.
std::optional<double> common_lse(const DiagnosedRun& run) {
  std::optional<double> common;
  for (const RowIndex& row : run.rows()) {
    if (!run.is_empty(row)) continue;
    const double got = run.outputs().lse_at(row);
    if (!std::isfinite(got) || (common && *common != got)) return std::nullopt;
    common = got;
  }
  return common;
}

/// An lse of rows without keys that is no usual one.
void add_finite_lse(const Subject& subject, const std::string& line, Hypotheses& hypotheses) {
  const Result<Case> made = subject.made(line);
  if (!made.ok()) return;
  const auto run = subject.run(made.value());
  if (!run.ok() || !run.value()->outputs().has_lse()) return;
  const auto common = common_lse(*run.value());
  if (!common) return;
  const std::string text = number_text(*common, run.value()->problem().compute_dtype());
  hypotheses.push_back(
      empty_rows("the number " + text, "empty=zero:" + text, true, number(*common)));
}

struct Way {
  const char* name;
  std::vector<std::string> lines;
};

std::vector<Way> ways_to_be_empty() {
  return {{"by bits",
           {"1x2:4x5:8 TYPE LSE mask=bits:11010/00000/00110/00000 vals=normal:1",
            "1x1:3x7:8 TYPE LSE mask=bits:0000000/1100011/0000000 vals=normal:2"}},
          {"by a causal mask",
           {"1x2:6x5:8 TYPE LSE mask=causal:off=-3 vals=normal:1",
            "1x1:9x4:8 TYPE LSE mask=causal:off=-5 vals=normal:2"}},
          {"by key lengths",
           {"2x2:3x{5,0}:8 TYPE LSE vals=normal:1", "2x1:4x{0,7}:8 TYPE LSE vals=normal:2"}}};
}

/// What was there before, in every element of results.
constexpr double kFirstFill = 0x1.8p-5;
constexpr double kSecondFill = -0x1.4p-4;

struct Unwritten {
  Index outputs = 0, lse = 0, rows = 0, depends = 0;
  bool only_empty = true;
};

/// Elements that keep what was there before, of one problem.
void count_unwritten(const Case& on, const Outputs& first, const Outputs& second,
                     Unwritten& found) {
  for_each_row(on.problem, [&](const RowIndex& row) {
    Index kept = 0;
    const auto look = [&](const Tensor& one, const Tensor& other, Index column, Index& counter) {
      const double a = one.get(row.batch, row.head, row.query, column);
      const double b = other.get(row.batch, row.head, row.query, column);
      if (a == kFirstFill && b == kSecondFill)
        ++counter, ++kept;
      else if (!(a == b) && !(std::isnan(a) && std::isnan(b)))
        ++found.depends;
    };
    for (Index c = 0; c < on.problem.head_dim_v; ++c) look(first.out, second.out, c, found.outputs);
    if (first.has_lse()) look(first.lse, second.lse, 0, found.lse);
    if (kept == 0) return;
    ++found.rows;
    found.only_empty =
        found.only_empty && reference::visible_keys(on.problem, row.batch, row.query).empty();
  });
}

std::string said(const Unwritten& found) {
  std::string value = found.outputs > 0 && found.lse > 0 ? "out and lse" : "out";
  if (found.outputs == 0) value = "lse";
  value += found.only_empty ? " of rows without keys not written"
                            : " of " + std::to_string(found.rows) + " rows not written";
  return value;
}

}  // namespace

void probe_lse(Subject& subject, Found& found) {
  if (!subject.has_lse()) {
    found.push_back(cannot_tell("lse base", Status{StatusCode::unsupported, "there is no lse"}));
    return;
  }
  const Finding base = decide(subject, "lse base",
                              std::vector<std::string>{"1x2:5x9:8 TYPE LSE vals=normal:1",
                                                       "1x1:4x23:8 TYPE LSE vals=normal:2"},
                              lse_hypotheses());
  found.push_back(base);
  const bool two_asked = subject.lse_words().find("log2") != std::string::npos;
  const double two = std::numbers::ln2;
  if (base.value == "2")
    subject.lse_reading().unit = two_asked ? 1 : two;
  else if (base.value == "e")
    subject.lse_reading().unit = two_asked ? 1 / two : 1;
  else
    subject.lse_reading().usable = false;
  if (subject.lse_words() != "lse=ln") return;
  const LseReading reading = std::exchange(subject.lse_reading(), {});
  Finding of_two = decide(subject, "lse base, 2 asked",
                          std::vector<std::string>{"1x2:5x9:8 TYPE lse=log2 vals=normal:1",
                                                   "1x1:4x23:8 TYPE lse=log2 vals=normal:2"},
                          lse_hypotheses());
  subject.lse_reading() = reading;
  of_two.words.clear();
  if (!of_two.not_declared) found.push_back(std::move(of_two));
}

void probe_empty_rows(const Subject& subject, Found& found) {
  std::vector<std::string> ways;
  std::vector<Finding> outputs, lses;
  for (const Way& way : ways_to_be_empty()) {
    ways.emplace_back(way.name);
    outputs.push_back(decide(subject, "empty row, out", way.lines,
                             {empty_rows("0", "empty=zero", false, number(0)),
                              empty_rows("NaN", "empty=nan", false, kNan), mean_of_v(),
                              empty_rows("not written", "", false, kUnwritten)}));
    if (!subject.has_lse()) continue;
    Hypotheses of_lse{empty_rows("-inf", "", true, number(-kInfinity)),
                      empty_rows("+inf", "empty=zero:inf", true, number(kInfinity)),
                      empty_rows("NaN", "", true, kNan),
                      empty_rows("not written", "", true, kUnwritten)};
    add_finite_lse(subject, way.lines.front(), of_lse);
    lses.push_back(decide(subject, "empty row, lse", way.lines, of_lse));
  }
  for (Finding& one : in_one(ways, std::move(outputs))) found.push_back(std::move(one));
  if (lses.empty()) return;
  for (Finding& one : in_one(ways, std::move(lses))) found.push_back(std::move(one));
}

void probe_written_rows(const Subject& subject, Found& found) {
  Finding finding{"stale rows", "all rows written", Sureness::certain};
  Unwritten unwritten;
  Index rows = 0;
  for (const char* const line :
       {"1x2:5x7:8/4 TYPE LSE vals=normal:1", "1x1:1x9:8 TYPE LSE vals=normal:2",
        "2x2:33x40:4 TYPE LSE vals=normal:3", "1x1:17x3:4/20 TYPE LSE vals=normal:4",
        "1x2:4x5:8 TYPE LSE mask=bits:11010/00000/00110/00000 vals=normal:5",
        "2x1:{5,3}x6:4 TYPE LSE vals=normal:6", "2x2:3x{5,0}:8 TYPE LSE vals=normal:7"}) {
    const Result<Case> made = subject.made(line);
    if (!made.ok()) continue;
    const Outputs first = properties::run_kernel_over(subject.kernel(), made.value(), kFirstFill);
    const Outputs second = properties::run_kernel_over(subject.kernel(), made.value(), kSecondFill);
    if (first.status.code() == StatusCode::unsupported) continue;
    if (!first.status.ok() || !second.status.ok()) {
      found.push_back(cannot_tell(finding.name, first.status.ok() ? second.status : first.status));
      return;
    }
    rows += made.value().problem.rows();
    const Unwritten before = unwritten;
    count_unwritten(made.value(), first, second, unwritten);
    if (unwritten.rows != before.rows) finding.experiments = {line_of(made.value())};
    if (unwritten.rows == 0) finding.experiments.push_back(line_of(made.value()));
  }
  if (rows == 0) return;
  finding.reason = "over two fills of the results, " + std::to_string(rows) + " rows";
  if (unwritten.depends > 0)
    finding.value = "results depend on what was there before";
  else if (unwritten.rows > 0)
    finding.value = said(unwritten);
  found.push_back(std::move(finding));
}

}  // namespace attest::probe
