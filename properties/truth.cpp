// The exact rows of cases, with the bounds that judge them.
#include <algorithm>
#include <utility>

#include "properties/judge.hpp"

namespace attest::properties {
namespace {

/// The tightest of several bounds, element by element.
RowBound least_of(const std::vector<RowBound>& bounds) {
  RowBound least = bounds.front();
  for (const RowBound& bound : bounds) {
    if (!bound.proven()) continue;
    if (!least.proven()) least = bound;
    for (std::size_t c = 0; c < least.output.size(); ++c)
      least.output[c] = std::min(least.output[c], bound.output[c]);
    least.lse = std::min(least.lse, bound.lse);
    least.lse_base_two = std::min(least.lse_base_two, bound.lse_base_two);
  }
  return least;
}

/// Whether the lse of a row is a number of the problem, and not of a computation.
bool states_lse(const Problem& problem, const RowIndex& row) {
  return !problem.sink && reference::visible_keys(problem, row.batch, row.query).empty();
}

std::optional<SharedRow> enclose_for_all(const Case& of, const RowIndex& row,
                                         std::span<const Computation> computations) {
  const auto bounds_of = [&](const RowFacts& facts) {
    std::vector<RowBound> bounds;
    bounds.reserve(computations.size());
    for (const Computation& computation : computations)
      bounds.push_back(
          error_bound(computation.accuracy, facts, computation.tiling, of.problem.seq_kv));
    return bounds;
  };
  // The lse of a row whose sink it leaves out is that of another row, which the rule is asked
  // about, too.
  std::vector<RowBound> whole;
  std::vector<RowBound> without_sink;
  auto exact = reference::certify_row(inputs_of(of), row, [&](const RowFacts& facts) {
    std::vector<RowBound>& bounds = of.problem.sink && !facts.has_sink() ? without_sink : whole;
    bounds = bounds_of(facts);
    return least_of(bounds);
  });
  if (!exact) return std::nullopt;
  SharedRow shared{std::move(*exact), {}, {}};
  // A row without visible keys is exact and asks for no bound, but for the lse of its sink.
  shared.bounds.assign(computations.size(), shared.exact.bound);
  shared.lse_bounds.assign(computations.size(), shared.exact.asked_lse_bound);
  if (shared.exact.contradiction) return shared;
  if (shared.exact.facts.visible_keys() > 0) shared.bounds = whole;
  const std::vector<RowBound>& of_lse =
      of.problem.sink && !of.problem.sink->in_lse ? without_sink : whole;
  for (std::size_t i = 0; i < of_lse.size() && !states_lse(of.problem, row); ++i)
    shared.lse_bounds[i] =
        of.problem.lse == LseForm::base_two ? of_lse[i].lse_base_two : of_lse[i].lse;
  return shared;
}

bool decided_fast(const reference::CertifiedRow& row) {
  return row.arithmetic == reference::Arithmetic::double_double && !row.facts.keys.empty();
}
bool decided_fast(const SharedRow& row) {
  return decided_fast(row.exact);
}

/// certify(), and once more by both oracles if the fast one decided a row that has something near
/// its bound: share(certified) is the largest share of a bound in it.
template <class Certify, class Share>
auto certify_and_audit(Certify&& certify, Share&& share) {
  auto row = certify();
  if (!row || !decided_fast(*row) || share(*row) < kNearBound) return row;
  const reference::BothOracles both;
  return certify();
}

}  // namespace

std::optional<reference::CertifiedRow> Truth::row(const RowIndex& row) const {
  return reference::certify_row(inputs_of(of_), row, [this](const RowFacts& facts) {
    return error_bound(accuracy_, facts, of_.tiling, of_.problem.seq_kv);
  });
}

std::vector<double> Truth::probable_errors(const reference::CertifiedRow& exact) const {
  return probable_error(accuracy_, exact.facts, of_.tiling, of_.problem.seq_kv);
}

std::optional<reference::CertifiedRow> Truth::row(const RowIndex& row,
                                                  const Outputs& outputs) const {
  return certify_and_audit(
      [&] { return this->row(row); },
      [&](const reference::CertifiedRow& exact) { return share_of_bound(exact, row, outputs); });
}

std::optional<SharedRow> certify_for_all(const Case& of, const RowIndex& row,
                                         std::span<const Computation> computations) {
  return certify_and_audit(
      [&] { return enclose_for_all(of, row, computations); },
      [&](const SharedRow& shared) {
        double largest = 0;
        for (std::size_t i = 0; i < computations.size(); ++i) {
          if (computations[i].outputs == nullptr) continue;
          largest = std::max(largest, share_of_bound(shared.of(i), row, *computations[i].outputs));
        }
        return largest;
      });
}

reference::CertifiedRow SharedRow::of(std::size_t computation) const {
  reference::CertifiedRow row = exact;
  row.bound = bounds[computation];
  row.asked_lse_bound = lse_bounds[computation];
  return row;
}

reference::CertifiedRow with_bound(reference::CertifiedRow row, RowBound bound) {
  row.asked_lse_bound = bound.lse;
  row.bound = std::move(bound);
  return row;
}

}  // namespace attest::properties
