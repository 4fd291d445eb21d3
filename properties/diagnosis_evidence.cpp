#include "properties/diagnosis_evidence.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "properties/check.hpp"
#include "properties/diagnosis_experiments.hpp"
#include "properties/values.hpp"

namespace attest::properties {
namespace {

/// Runs of a law that are recorded, and of those the wrong and the right ones that are looked at.
constexpr std::size_t kMostRecorded = 400;
constexpr std::size_t kMostRuns = 12;
/// The same problem with other values: how many problems, and how often each.
constexpr std::size_t kFreshProblems = 4;
constexpr std::array<std::string_view, 3> kFreshFamilies{"normal", "normal", "whole"};

Case with_fresh_values(const Case& from, std::size_t which) {
  Case fresh = from;
  fill_family(fresh, kFreshFamilies[which], 0x0D1A6 + which);
  share_values(fresh);
  becomes_literal(fresh);
  return fresh;
}

/// The same kind of problem with more queries, keys and columns: in the smallest case many mistakes
/// look the same. Lengths and whatever has one number a pair stay as they are.
Case grown(const Case& from) {
  Case larger = from;
  Problem& problem = larger.problem;
  problem.head_dim = std::max(problem.head_dim, Index{4});
  problem.head_dim_v = std::max(problem.head_dim_v, Index{4});
  const Mask& mask = problem.mask;
  const bool fixed = mask.bits || mask.blocks || mask.segments || mask.additive ||
                     !problem.query_lengths.empty() || !problem.key_lengths.empty() ||
                     problem.kv.kind != KvStorage::Kind::dense;
  if (!fixed) {
    problem.seq_q += 3;
    problem.seq_kv += 6;
  }
  return validate(problem).ok() && validate(larger.tiling, problem.seq_kv).ok() ? larger : from;
}

/// Without lengths, storage of its own and masks that have one number a pair, and grown: such parts
/// can hide what tells two mistakes from each other.
Case opened(const Case& from) {
  Case open = from;
  Problem& problem = open.problem;
  problem.query_lengths.clear();
  problem.key_lengths.clear();
  problem.kv = {};
  problem.layout = {};
  problem.mask.bits.reset();
  problem.mask.blocks.reset();
  problem.mask.segments.reset();
  problem.mask.additive.reset();
  problem.order.mask_before_softcap = false;
  return validate(problem).ok() ? grown(open) : from;
}

/// The same with tiles of which none is cut.
Case with_full_tiles(Case of) {
  Index tile = 2;
  while (tile < of.problem.seq_kv && of.problem.seq_kv % tile != 0) ++tile;
  of.tiling.tile_kv = tile;
  of.tiling.splits = {};
  if (of.tiling.merge.kind == MergeOrder::Kind::explicit_tree) of.tiling.merge = {};
  return of;
}

}  // namespace

std::optional<Outputs> run_of(const Kernel& kernel, const Case& on) {
  try {
    Outputs outputs = run_kernel(kernel, on);
    return outputs.status.ok() ? std::optional(std::move(outputs)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

Evidence::Evidence(const Kernel& kernel, const Law& law, std::span<const Case> cases)
    : kernel_(kernel) {
  for (const Case& on : cases) {
    if (!affordable(on.problem)) continue;
    RunRecorder recorder(kMostRecorded);
    run_of(kernel, on);
    check_once(kernel, law, on);
    add_recorded(recorder.forward());
    for (const BackwardRun& run : recorder.backward())
      if (affordable(run.of.problem) && backward_.size() < 2 * kMostRuns) backward_.push_back(run);
  }
  add_fresh();
  // The most telling runs first: most mistakes are ruled out by the first wrong row.
  std::stable_partition(runs_.begin(), runs_.end(),
                        [](const auto& run) { return run->wrong_rows() > 0; });
}

void Evidence::add_recorded(const std::vector<ForwardRun>& recorded) {
  std::size_t wrong = 0;
  std::size_t right = 0;
  Index work = 0;
  for (const ForwardRun& run : recorded) {
    work += work_of(run.of.problem);
    if (!affordable(run.of.problem) || work > 4 * kMostWork) continue;
    auto diagnosed = std::make_unique<DiagnosedRun>(kernel_, run);
    std::size_t& count = diagnosed->wrong_rows() > 0 ? wrong : right;
    if (count++ < kMostRuns) runs_.push_back(std::move(diagnosed));
  }
}

void Evidence::add_fresh() {
  std::vector<const DiagnosedRun*> wrong;
  for (const auto& run : runs_) {
    const auto same = [&](const DiagnosedRun* other) {
      return other->problem() == run->problem() && other->of().tiling == run->of().tiling;
    };
    if (run->wrong_rows() > 0 && std::none_of(wrong.begin(), wrong.end(), same))
      wrong.push_back(run.get());
  }
  wrong.resize(std::min(wrong.size(), kFreshProblems));
  std::vector<ForwardRun> fresh;
  const auto try_out = [&](const Case& other) {
    if (!affordable(other.problem)) return;
    if (auto outputs = run_of(kernel_, other)) fresh.push_back({other, std::move(*outputs)});
  };
  for (const DiagnosedRun* run : wrong) {
    for (std::size_t which = 0; which < kFreshFamilies.size(); ++which)
      try_out(with_fresh_values(run->of(), which));
    Case larger = grown(run->of());
    if (larger.problem.lse == LseForm::none && kernel_.description().capabilities.lse)
      larger.problem.lse = LseForm::natural;
    for (std::size_t which = 0; which < kFreshFamilies.size(); ++which)
      try_out(with_fresh_values(larger, which));
    try_out(with_fresh_values(with_full_tiles(larger), 0));
    const Case open = opened(larger);
    if (open.problem != larger.problem)
      for (std::size_t which = 0; which < kFreshFamilies.size(); ++which)
        try_out(with_fresh_values(open, which));
  }
  for (ForwardRun& run : fresh)
    runs_.push_back(std::make_unique<DiagnosedRun>(kernel_, std::move(run)));
}

}  // namespace attest::properties
