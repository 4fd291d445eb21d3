#include "cli/accuracy_job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "attest/ulp.hpp"
#include "properties/judge.hpp"

namespace attest::cli {
namespace {

using properties::Case;
using properties::Outputs;

/// A kernel's run on one tensor under one tiling, and what was found about it.
struct Variant {
  const Kernel* kernel = nullptr;
  const Case* on = nullptr;
  Tiling tiling;
  DeclaredAccuracy accuracy;
  Outputs outputs;
  reports::AccuracyRow row;
  std::vector<float> ulps;  ///< one an output element
};

/// The part of an AccuracyRow that one output row contributes.
struct Finding {
  std::int64_t violations = 0;
  double worst_error = 0;
  double worst_ratio = 0;
  double worst_lse_error = 0;
  double worst_lse_ratio = 0;
  std::string worst_element;
};

/// Keeps the worse of both; on a tie the element of the lower row number, whatever thread is first.
void add(const Finding& finding, reports::AccuracyRow& row) {
  row.violations += finding.violations;
  row.worst_error = std::max(row.worst_error, finding.worst_error);
  row.worst_lse_error = std::max(row.worst_lse_error, finding.worst_lse_error);
  row.worst_lse_ratio = std::max(row.worst_lse_ratio, finding.worst_lse_ratio);
  const bool same = finding.worst_ratio == row.worst_ratio && finding.worst_ratio > 0;
  if (finding.worst_ratio > row.worst_ratio || (same && finding.worst_element < row.worst_element))
    row.worst_element = finding.worst_element;
  row.worst_ratio = std::max(row.worst_ratio, finding.worst_ratio);
}

std::vector<Tiling> tilings_for(const Kernel& kernel) {
  std::vector<Tiling> tilings{{.tile_q = 16, .tile_kv = 16, .splits = {}, .merge = {}}};
  if (!kernel.description().capabilities.tiles) return tilings;
  tilings.push_back({.tile_q = 64,
                     .tile_kv = 64,
                     .splits = {.count = 3, .cuts = {}},
                     .merge = {MergeOrder::Kind::balanced, 0, {}}});
  tilings.push_back({.tile_q = 16,
                     .tile_kv = 48,
                     .splits = {.count = 5, .cuts = {}},
                     .merge = {MergeOrder::Kind::random, 7, {}}});
  return tilings;
}

/// The type of a recording, and the wider ones that hold its numbers exactly.
std::vector<Dtype> dtypes_that_hold(Dtype recorded) {
  if (recorded == Dtype::f64) return {Dtype::f64};
  if (recorded == Dtype::f32) return {Dtype::f32, Dtype::f64};
  return {recorded, Dtype::f32, Dtype::f64};
}

/// The recording as a case of a dtype; the scale keeps its f32 value in f64 too, so that all dtypes
/// have one truth.
Case to_case(const tensors::RealAttention& source, Dtype dtype) {
  Case made{source.problem, {}, {ValueRecipe::Kind::real, source.name, 0, {}, {}, {}}, {}, {}, {}};
  made.problem.scale = {false, scale_value(source.problem)};
  made.problem.dtype = dtype;
  const auto copied = [dtype](const Tensor& tensor) {
    return properties::filled(
        dtype, tensor.extents(),
        [&](Index b, Index h, Index row, Index column) { return tensor.get(b, h, row, column); });
  };
  made.q = copied(source.q);
  made.k = copied(source.k);
  made.v = copied(source.v);
  return made;
}

void judge_output(const Variant& variant, const RowIndex& row, const RowFacts& facts,
                  const RowBound& bound, std::span<float> ulps, Finding& result) {
  for (std::size_t c = 0; c < facts.output.size(); ++c) {
    const auto column = static_cast<Index>(c);
    const double got = variant.outputs.out.get(row.batch, row.head, row.query, column);
    double error = facts.output[c].distance_upper(got);
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    ulps[c] =
        static_cast<float>(error / ulp_at(facts.output[c].high, variant.on->problem.out_dtype()));
    if (error > bound.output[c]) ++result.violations;
    const double ratio = error == 0 ? 0 : error / bound.output[c];
    result.worst_error = std::max(result.worst_error, error);
    if (ratio <= result.worst_ratio) continue;
    result.worst_ratio = ratio;
    result.worst_element = fmt::format("out[{},{},{},{}]", row.batch, row.head, row.query, column);
  }
}

void judge_lse(const Variant& variant, const RowIndex& row, const RowFacts& facts,
               const RowBound& bound, Finding& result) {
  double error =
      facts.lse.distance_upper(variant.outputs.lse.get(row.batch, row.head, row.query, 0));
  if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
  if (error > bound.lse) ++result.violations;
  result.worst_lse_error = std::max(result.worst_lse_error, error);
  result.worst_lse_ratio = std::max(result.worst_lse_ratio, error == 0 ? 0.0 : error / bound.lse);
}

/// Judges every row of all variants; threads share the rows, a lock guards the results.
Status judge_rows(const Case& on, std::vector<Variant>& variants, int jobs) {
  std::vector<properties::Computation> computations;
  computations.reserve(variants.size());
  for (const Variant& variant : variants)
    computations.push_back({variant.accuracy, variant.tiling, &variant.outputs});
  const Problem& problem = on.problem;
  const auto columns = static_cast<std::size_t>(problem.head_dim_v);
  std::atomic<Index> next{0};
  std::mutex results;
  Status failure;
  const auto work = [&] {
    for (Index number = next++; number < problem.rows(); number = next++) {
      const RowIndex row{number / (problem.heads_q * problem.seq_q),
                         number / problem.seq_q % problem.heads_q, number % problem.seq_q};
      const auto judged = properties::certify_for_all(on, row, computations);
      // An unproven bound is infinite: it would pass everything.
      const bool decided = judged && judged->exact.narrow &&
                           std::all_of(judged->bounds.begin(), judged->bounds.end(),
                                       [](const RowBound& bound) { return bound.proven(); });
      std::vector<Finding> findings(variants.size());
      for (std::size_t i = 0; i < variants.size() && decided; ++i) {
        const RowFacts& facts = judged->exact.facts;
        const RowBound& bound = judged->bounds[i];
        // Every row has its own part of `ulps`.
        const std::span<float> ulps(&variants[i].ulps[static_cast<std::size_t>(number) * columns],
                                    columns);
        judge_output(variants[i], row, facts, bound, ulps, findings[i]);
        judge_lse(variants[i], row, facts, bound, findings[i]);
      }
      const std::lock_guard lock(results);
      if (!decided)
        failure = {StatusCode::undecided, "a row has no narrow enclosure or no proven bound"};
      for (std::size_t i = 0; i < variants.size(); ++i) add(findings[i], variants[i].row);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int job = 1; job < jobs; ++job) threads.emplace_back(work);
    work();
  }
  return failure;
}

reports::UlpQuantiles quantiles(std::vector<float>& ulps) {
  if (ulps.empty()) return {};
  std::sort(ulps.begin(), ulps.end());
  const auto at = [&](double share) {
    return static_cast<double>(
        ulps[static_cast<std::size_t>(share * static_cast<double>(ulps.size() - 1))]);
  };
  return {at(0.5), at(0.99), at(1.0)};
}

Result<std::vector<Variant>> run_variants(const AccuracyJob& job, const std::vector<Case>& cases,
                                          const std::string& tensor) {
  std::vector<Variant> variants;
  for (const Kernel* const kernel : job.kernels)
    for (const Case& on : cases)
      for (const Tiling& tiling : tilings_for(*kernel)) {
        const auto& dtypes = kernel->description().capabilities.dtypes;
        if (std::find(dtypes.begin(), dtypes.end(), on.problem.dtype) == dtypes.end()) continue;
        Variant variant{kernel, &on, tiling, kernel->accuracy(on.problem), {}, {}, {}};
        Case tiled = on;
        tiled.tiling = tiling;
        variant.outputs = properties::run_kernel(*kernel, tiled);
        if (variant.outputs.status.code() == StatusCode::unsupported) continue;
        if (!variant.outputs.status.ok())
          return Status{variant.outputs.status.code(), kernel->description().name + " on " +
                                                           tensor + ": " +
                                                           variant.outputs.status.message()};
        variant.row.kernel = kernel->description().name;
        variant.row.tensor = tensor;
        variant.row.dtype = to_string(on.problem.dtype);
        variant.row.problem = minimal_text(properties::to_text(tiled));
        variant.row.outputs = on.problem.rows() * (on.problem.head_dim_v + 1);
        variant.ulps.resize(static_cast<std::size_t>(on.problem.rows() * on.problem.head_dim_v));
        variants.push_back(std::move(variant));
      }
  return variants;
}

}  // namespace

Result<std::vector<reports::AccuracyRow>> run_accuracy(const AccuracyJob& job) {
  std::vector<reports::AccuracyRow> rows;
  for (const tensors::RealAttention& source : job.library->all()) {
    if (job.progress) job.progress(source.name);
    std::vector<Case> cases;
    for (const Dtype dtype : dtypes_that_hold(source.problem.dtype))
      cases.push_back(to_case(source, dtype));
    auto variants = run_variants(job, cases, source.name);
    if (!variants.ok()) return variants.status();
    if (Status status = judge_rows(cases.front(), variants.value(), job.jobs); !status.ok())
      return Status{status.code(), source.name + ": " + status.message()};
    for (Variant& variant : variants.value()) {
      variant.row.ulp = quantiles(variant.ulps);
      rows.push_back(std::move(variant.row));
    }
  }
  return rows;
}

}  // namespace attest::cli
