// Candidates for a convention, and which of them a kernel's results fit.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/finding.hpp"
#include "probe/subject.hpp"

namespace attest::probe {

/// One candidate: what it is called, the words of a problem text that say it, and the rows that it
/// predicts.
struct Hypothesis {
  std::string value;
  std::string words;
  properties::Fit fit;
};
using Hypotheses = std::vector<Hypothesis>;

/// Makes the problem that the kernel may solve instead; false: no other one.
using Change = std::function<bool(Case&)>;

enum class EmptyRows {
  as_asked,  ///< what the problem says of a row without keys is expected
  ignored    ///< nothing is said about them
};

/// Rows of the changed problem by the oracle, under its bound; NaN where a row sees what the change
/// took from memory that holds nothing.
properties::Fit solves(Change change, EmptyRows empty = EmptyRows::as_asked);
/// Whether a query sees a key, by a rule that no mask has.
using SeenBy = std::function<bool(const Problem&, Index query, Index key)>;
/// The problem with this instead of its mask. Precondition: no lengths.
properties::Fit sees(SeenBy rule, EmptyRows empty = EmptyRows::ignored);
/// The problem itself.
properties::Fit as_asked(EmptyRows empty = EmptyRows::as_asked);
/// A mistake that diagnosis knows, in its first form.
/// Precondition: it has the name.
properties::Fit known_as(std::string_view name);

/// A change of each predicted row; the row has no prediction where it returns false.
using ChangeRow = std::function<bool(const properties::DiagnosedRun&, const RowIndex&,
                                     properties::RowPrediction&)>;
properties::Fit changed_rows(properties::Fit fit, ChangeRow change);

/// Beyond this many bounds a candidate is refused clearly.
inline constexpr double kClearMargin = 4;

/// How far a whole run is from what a candidate predicts.
struct Standing {
  Index rows = 0;    ///< about which it says something
  double worst = 0;  ///< largest error / bound; infinite where a class differs
};
Standing standing(const properties::DiagnosedRun& run, const properties::Fit& fit,
                  const LseReading& reading);

/// How far an input is from every candidate, in their order.
using Standings = std::vector<Standing>;
using Measure = std::function<Result<Standings>(const Case&)>;

/// What is called a candidate.
struct Candidate {
  std::string value;
  std::string words = {};  ///< of a problem text
};

/// The finding `name`: the only candidate that fits all inputs. Inputs come in pairs that differ in
/// their values; the first ones alone and the second ones alone must leave the same candidate.
/// Precondition: their number is even.
Finding decide(std::string name, const std::vector<Case>& inputs,
               const std::vector<Candidate>& candidates, const Measure& measure);
/// The same, of rows of forward passes and of problem lines as Subject::made reads them.
Finding decide(const Subject& subject, std::string name, const std::vector<std::string>& lines,
               const Hypotheses& hypotheses);

/// The problems of the lines.
Result<std::vector<Case>> all_made(const Subject& subject, const std::vector<std::string>& lines);

/// What was found in several ways: one finding where those that tell something agree, and one for
/// each of the others, with the name of its way.
std::vector<Finding> in_one(const std::vector<std::string>& ways, std::vector<Finding> parts);

Finding cannot_tell(std::string name, std::string reason);
/// Of a call that gave no results.
Finding cannot_tell(std::string name, const Status& status);

}  // namespace attest::probe
