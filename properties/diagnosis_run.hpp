// One run of a kernel, and what rows of it would be if the kernel made a certain mistake.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "properties/judge.hpp"
#include "properties/run_recorder.hpp"

namespace attest::properties {

/// What one number of a result is expected to be.
struct Expected {
  enum class Kind {
    number,     ///< within `bound` of `value`
    nan,        ///< any NaN that was written
    unwritten,  ///< what was there before the call, whatever that was
    anything,
  };
  Kind kind = Kind::number;
  Enclosure value = {};
  double bound = 0;
  /// A number of this format; only where a mistake is to leave nothing else.
  std::optional<Format> grid = {};
};

/// What a row is expected to be.
struct RowPrediction {
  std::vector<Expected> output;
  std::optional<Expected> lse;  ///< nothing: not looked at
};

/// What NaN in the inputs makes of a row that sees the keys of `problem` in `of`: NaN in the
/// columns of values that are NaN, and everywhere where a query or key is. Nothing where nothing is
/// NaN, or something is infinite.
std::optional<RowPrediction> prediction_of_nan(const Case& of, const RowIndex& row);

/// A row under its own bound; nothing where it has none.
std::optional<RowPrediction> prediction_of(const reference::CertifiedRow& row,
                                           const Problem& problem);

/// One run and its truth, which is computed when it is asked for and then kept.
class DiagnosedRun {
 public:
  DiagnosedRun(const Kernel& kernel, ForwardRun run);
  DiagnosedRun(const DiagnosedRun&) = delete;
  DiagnosedRun& operator=(const DiagnosedRun&) = delete;

  const Kernel& kernel() const { return kernel_; }
  const Case& of() const { return run_.of; }
  const Problem& problem() const { return run_.of.problem; }
  const Outputs& outputs() const { return run_.outputs; }
  const DeclaredAccuracy& accuracy() const { return accuracy_; }
  /// The tiling that the kernel works by.
  const Tiling& tiling() const;

  /// Wrong rows first.
  const std::vector<RowIndex>& rows() const { return rows_; }
  std::size_t wrong_rows() const { return wrong_rows_; }

  /// Nothing when a visible input is not finite.
  const std::optional<reference::CertifiedRow>& truth(const RowIndex& row) const;
  /// Nothing where the truth has no bound either.
  std::optional<RowPrediction> right(const RowIndex& row) const;

  /// Whether a row sees no key, and there is no sink.
  bool is_empty(const RowIndex& row) const;

  /// The bound of a row if weights and output had the format of all other arithmetic: what tells
  /// one rounding to a narrow type from another. `unproven` as the bound itself.
  RowBound fine_bound(const RowFacts& facts) const;

  /// Whether every number of the row is as expected.
  bool shows(const RowIndex& row, const RowPrediction& expected) const;
  /// How much a prediction that holds says: log2 of how far it is from the truth in units of its
  /// own bound, of the number that says most. The numbers of a row have one cause, and count once.
  double bits_of_evidence(const RowIndex& row, const RowPrediction& expected) const;

 private:
  bool shows(const RowIndex& row, Index column, const Expected& expected) const;
  /// Of a number that is poison: whether the kernel wrote it, which a second run shows that finds
  /// other numbers in its results.
  bool written(const RowIndex& row, Index column) const;

  const Kernel& kernel_;
  ForwardRun run_;
  DeclaredAccuracy accuracy_;
  std::vector<RowIndex> rows_;
  std::size_t wrong_rows_ = 0;
  mutable std::optional<Outputs> again_;
  mutable std::map<std::tuple<Index, Index, Index>, std::optional<reference::CertifiedRow>> truth_;
};

/// The mistake on one run: nothing for a row about which it says nothing (a number that takes part
/// is not finite, or no bound holds).
using Predictor = std::function<std::optional<RowPrediction>(const RowIndex&)>;

/// How one mistake shows in a run; a null predictor: not at all. The run outlives the predictor.
using Fit = std::function<Predictor(const DiagnosedRun&)>;

/// Makes the case that a wrong kernel would solve instead, for the rows of batch member b; false:
/// the mistake does not show in this case. Only the rows of b count afterwards.
using ChangeCase = bool (*)(Case&, Index b);

/// Rows of the changed cases, by the oracle and under the bounds of those cases.
Fit solves_instead(ChangeCase change);
/// The same, but the lse is not looked at.
Fit solves_instead_without_lse(ChangeCase change);

struct Form {
  Fit fit;
  ChangeCase change = nullptr;  ///< where the mistake is another problem
};

/// A mistake with a name. It may come in several forms, which are one to whoever reads the name.
struct Alternative {
  std::string_view name;
  std::string_view sentence;
  std::vector<Form> forms;
  bool general = false;  ///< says little: only told where nothing else explains what was seen
};

/// A mistake that is another problem.
inline Alternative other_problem(std::string_view name, std::string_view sentence,
                                 const std::vector<ChangeCase>& changes) {
  Alternative alternative{name, sentence, {}, false};
  for (const ChangeCase change : changes)
    alternative.forms.push_back({solves_instead(change), change});
  return alternative;
}

}  // namespace attest::properties
