#include "cli/judged_variants.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "attest/ulp.hpp"
#include "properties/twin.hpp"

namespace attest::cli {
namespace {

using properties::Case;
using properties::RowErrors;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double or_infinite(double error) {
  return std::isnan(error) ? kInfinity : error;
}

double size_of_error(const Enclosure& exact, double got) {
  return or_infinite(std::abs(properties::signed_error(exact, got)));
}

double ratio_of(double error, double bound) {
  return error == 0 ? 0 : error / bound;
}

/// The findings of one row, with its errors still apart.
struct RowFinding {
  VariantFindings found;
  RowErrors errors;
};

void judge_output(const Variant& variant, const RowIndex& row, const RowFacts& facts,
                  const RowBound& bound, RowFinding& into) {
  VariantFindings& found = into.found;
  const Dtype dtype = variant.on->problem.out_dtype();
  std::vector<double> got;
  for (std::size_t c = 0; c < facts.output.size(); ++c) {
    got.push_back(variant.outputs.at(row, static_cast<Index>(c)));
    const double error = or_infinite(facts.output[c].distance_upper(got.back()));
    found.ulps.push_back(static_cast<float>(error / ulp_at(facts.output[c].high, dtype)));
    if (error > bound.output[c]) ++found.violations;
    found.worst_error = std::max(found.worst_error, error);
    found.largest_error = std::max(found.largest_error, size_of_error(facts.output[c], got.back()));
    const double ratio = ratio_of(error, bound.output[c]);
    if (ratio <= found.worst_ratio) continue;
    found.worst_ratio = ratio;
    found.worst_row = row;
    found.worst_column = static_cast<Index>(c);
  }
  found.outputs += static_cast<std::int64_t>(got.size());
  if (facts.visible_keys() > 0) into.errors = properties::row_errors(facts.output, got, dtype);
}

void judge_lse(const Variant& variant, const RowIndex& row, const Enclosure& exact, double bound,
               VariantFindings& found) {
  const double error = or_infinite(exact.distance_upper(variant.outputs.lse_at(row)));
  if (error > bound) ++found.violations;
  found.worst_lse_error = std::max(found.worst_lse_error, error);
  found.worst_lse_ratio = std::max(found.worst_lse_ratio, ratio_of(error, bound));
}

double twin_error(const Case& of, const RowIndex& row, const RowFacts& facts) {
  const auto twin = properties::twin_row(of, row);
  double largest = 0;
  for (std::size_t c = 0; twin && c < twin->size(); ++c)
    largest = std::max(largest, size_of_error(facts.output[c], (*twin)[c]));
  return largest;
}

/// The findings of all variants about one row; nothing where it cannot be decided.
std::vector<RowFinding> judge_row(const Case& on, const RowIndex& row,
                                  const std::vector<Variant>& variants,
                                  const std::vector<properties::Computation>& computations) {
  const auto shared = properties::certify_for_all(on, row, computations);
  // An unproven bound is infinite: it would pass everything.
  const bool decided = shared && shared->exact.narrow &&
                       std::all_of(shared->bounds.begin(), shared->bounds.end(),
                                   [](const RowBound& bound) { return bound.proven(); });
  if (!decided) return {};
  const RowFacts& facts = shared->exact.facts;
  const std::optional<Enclosure>& lse = shared->exact.asked_lse;
  std::vector<RowFinding> findings(variants.size());
  std::map<const Case*, double> twins;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Case* const of = variants[i].on;
    // What another policy than zero gives for an empty row is no matter of accuracy.
    if (facts.visible_keys() > 0 || of->problem.all_masked == AllMaskedPolicy::zero)
      judge_output(variants[i], row, facts, shared->bounds[i], findings[i]);
    if (lse && variants[i].outputs.has_lse())
      judge_lse(variants[i], row, *lse, shared->lse_bounds[i], findings[i].found);
    if (twins.count(of) == 0) twins[of] = twin_error(*of, row, facts);
    findings[i].found.twin_error = twins[of];
  }
  return findings;
}

/// Takes the findings of rows as they become ready and adds them in the order of the rows.
class InOrder {
 public:
  InOrder(const Case& on, std::vector<Variant>& variants, std::vector<RowIndex> rows)
      : on_(on), variants_(variants), rows_(std::move(rows)), errors_(variants.size()) {}

  /// Number of the next row that nobody has begun; rows().size() if there is none.
  std::size_t next() {
    const std::lock_guard lock(mutex_);
    return undecided_ ? rows_.size() : std::min(begun_++, rows_.size());
  }
  const std::vector<RowIndex>& rows() const { return rows_; }

  void put(std::size_t number, std::vector<RowFinding> findings) {
    const std::lock_guard lock(mutex_);
    undecided_ = undecided_ || findings.size() != variants_.size();
    if (undecided_) return;
    waiting_.emplace(number, std::move(findings));
    for (; !waiting_.empty() && waiting_.begin()->first == added_; ++added_) {
      add(rows_[added_], waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
  }

  Status finish() {
    if (undecided_)
      return {StatusCode::undecided, "a row has no narrow enclosure or no proven bound"};
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      variants_[i].found.errors = errors_[i].statistics();
      variants_[i].found.sum_squares = errors_[i].sum_squares();
      variants_[i].found.bias = errors_[i].bias();
    }
    return {};
  }

 private:
  void add(const RowIndex& row, const std::vector<RowFinding>& findings) {
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      variants_[i].found.add(findings[i].found);
      errors_[i].add({row.batch, on_.problem.kv_head(row.head)}, findings[i].errors);
    }
  }

  const Case& on_;
  std::vector<Variant>& variants_;
  std::vector<RowIndex> rows_;
  std::vector<properties::ErrorCollector> errors_;
  std::mutex mutex_;
  std::size_t begun_ = 0;
  std::size_t added_ = 0;
  std::map<std::size_t, std::vector<RowFinding>> waiting_;
  bool undecided_ = false;
};

}  // namespace

void VariantFindings::add(const VariantFindings& other) {
  outputs += other.outputs;
  violations += other.violations;
  worst_error = std::max(worst_error, other.worst_error);
  largest_error = std::max(largest_error, other.largest_error);
  worst_lse_error = std::max(worst_lse_error, other.worst_lse_error);
  worst_lse_ratio = std::max(worst_lse_ratio, other.worst_lse_ratio);
  if (other.worst_ratio > worst_ratio) {
    worst_ratio = other.worst_ratio;
    worst_row = other.worst_row;
    worst_column = other.worst_column;
  }
  twin_error = std::max(twin_error, other.twin_error);
  sum_squares += other.sum_squares;
  errors.add(other.errors);
  bias.add(other.bias);
  ulps.insert(ulps.end(), other.ulps.begin(), other.ulps.end());
}

double VariantFindings::twin_ratio() const {
  return ratio_of(largest_error, twin_error);
}

std::string VariantFindings::worst_element() const {
  if (worst_column < 0) return {};
  return fmt::format("out[{},{},{},{}]", worst_row.batch, worst_row.head, worst_row.query,
                     worst_column);
}

Status judge_rows(const Case& on, std::vector<Variant>& variants, int jobs, Audit audit) {
  std::vector<properties::Computation> computations;
  computations.reserve(variants.size());
  for (const Variant& variant : variants)
    computations.push_back({variant.accuracy, variant.tiling,
                            audit == Audit::near_bounds ? &variant.outputs : nullptr});
  InOrder results(on, variants, properties::all_rows(on.problem));
  const auto work = [&] {
    const std::vector<RowIndex>& rows = results.rows();
    for (std::size_t number = results.next(); number < rows.size(); number = results.next())
      results.put(number, judge_row(on, rows[number], variants, computations));
  };
  {
    std::vector<std::jthread> threads;
    for (int job = 1; job < jobs; ++job) threads.emplace_back(work);
    work();
  }
  return results.finish();
}

}  // namespace attest::cli
