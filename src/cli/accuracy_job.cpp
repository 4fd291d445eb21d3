#include "cli/accuracy_job.hpp"

#include <algorithm>
#include <utility>

#include "cli/case_text.hpp"
#include "cli/judged_variants.hpp"
#include "cli/measurements.hpp"
#include "reports/run_model.hpp"

namespace attest::cli {
namespace {

using properties::Case;
using properties::Outputs;

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
        Variant variant{kernel, &on, tiling, kernel->accuracy(on.problem), {}, {}};
        Case tiled = on;
        tiled.tiling = tiling;
        variant.outputs = properties::run_kernel(*kernel, tiled);
        if (variant.outputs.status.code() == StatusCode::unsupported) continue;
        if (!variant.outputs.status.ok())
          return Status{variant.outputs.status.code(), kernel->description().name + " on " +
                                                           tensor + ": " +
                                                           variant.outputs.status.message()};
        variants.push_back(std::move(variant));
      }
  return variants;
}

Case tiled_case(const Variant& variant) {
  Case tiled = *variant.on;
  tiled.tiling = variant.tiling;
  return tiled;
}

reports::AccuracyRow to_row(Variant& variant, const std::string& tensor) {
  VariantFindings& found = variant.found;
  reports::AccuracyRow row;
  row.kernel = variant.kernel->description().name;
  row.tensor = tensor;
  const Case tiled = tiled_case(variant);
  row.problem = minimal_text(properties::to_text(tiled));
  row.keys = tiled.problem.seq_kv;
  row.replay = replay_command_line(*variant.kernel, tiled, "bound.out", {});
  row.dtype = to_string(variant.on->problem.dtype);
  row.outputs = found.outputs + variant.on->problem.rows();
  row.violations = found.violations;
  row.worst_error = found.worst_error;
  row.worst_ratio = found.worst_ratio;
  row.worst_lse_error = found.worst_lse_error;
  row.worst_lse_ratio = found.worst_lse_ratio;
  row.ulp = quantiles(found.ulps);
  row.worst_element = found.worst_element();
  row.twin_ratio = found.twin_ratio();
  return row;
}

/// The run with the largest error / bound so far.
struct Worst {
  const Kernel* kernel = nullptr;
  CaseToMap on;

  void take(const Variant& variant) {
    if (variant.found.worst_ratio <= on.ratio) return;
    kernel = variant.kernel;
    on = {tiled_case(variant), "bound.out", variant.found.worst_row, variant.found.worst_ratio};
  }
};

}  // namespace

Status run_accuracy(const AccuracyJob& job, RunStream& lines) {
  Worst worst;
  for (const tensors::RealAttention& source : job.library->all()) {
    if (job.progress) job.progress(source.name);
    std::vector<Case> cases;
    for (const Dtype dtype : dtypes_that_hold(source.problem.dtype))
      cases.push_back(to_case(source, dtype));
    auto variants = run_variants(job, cases, source.name);
    if (!variants.ok()) return variants.status();
    if (Status status = judge_rows(cases.front(), variants.value(), job.jobs); !status.ok())
      return Status{status.code(), source.name + ": " + status.message()};
    reports::Measurements measured;
    for (Variant& variant : variants.value()) {
      worst.take(variant);
      const reports::AccuracyRow row = to_row(variant, source.name);
      lines.add(row);
      reports::add(measured, {{{row.kernel, row.dtype, "out", variant.found.errors}}, {}, {}, {}});
    }
    lines.add(measured, {});
  }
  if (worst.kernel != nullptr) lines.add({{}, heat_map(*worst.kernel, worst.on), {}, {}}, {});
  return {};
}

}  // namespace attest::cli
