#include "fuzz/case_input.hpp"

#include <algorithm>

#include "attest/problem_text.hpp"
#include "fuzz/bytes_draw.hpp"
#include "kernels/registry.hpp"
#include "properties/hash.hpp"

namespace attest::fuzz {
namespace {

using properties::Case;
using properties::Draw;
using properties::Law;

/// Products of one pass over the case.
constexpr Index kMaxWork = 1 << 13;
constexpr Index kMaxLength = 64;
constexpr Index kMaxParts = 40;
constexpr Index kMaxTile = 1 << 12;
constexpr Index kMaxSlots = 256;

bool within(Index value, Index most) {
  return value <= most;
}

/// One run decides it, whatever the case is; or it maps terabytes of address space, which takes ten
/// times as long as another law.
bool is_seldom(const Law& law) {
  return !law.depends_on_case || law.name == "contract.wide_strides";
}

std::string_view without_comment(std::string_view text) {
  text = text.substr(0, text.find_first_of("#\n"));
  const std::size_t last = text.find_last_not_of(" \t\r");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

bool is_small(const ProblemText& text) {
  const Problem& problem = text.problem;
  const Index lengths[] = {problem.batch,  problem.heads_q,  problem.seq_q,
                           problem.seq_kv, problem.head_dim, problem.head_dim_v};
  if (!std::all_of(std::begin(lengths), std::end(lengths),
                   [](Index length) { return within(length, kMaxLength); }))
    return false;
  // Every factor is at most 64, so that this product cannot overflow.
  const Index work = std::max(problem.rows(), Index{1}) * std::max(problem.seq_kv, Index{1}) *
                     (problem.head_dim + problem.head_dim_v);
  const Tiling& tiling = text.tiling;
  const KvStorage& kv = problem.kv;
  return within(work, kMaxWork) && within(tiling.splits.count, kMaxParts) &&
         within(static_cast<Index>(tiling.splits.cuts.size()), kMaxParts) &&
         within(std::max(tiling.tile_q, tiling.tile_kv), kMaxTile) &&
         within(std::max(kv.page_size, kv.pages), kMaxSlots) &&
         within(kv.page_size * std::min(kv.pages, kMaxSlots), kMaxSlots) &&
         within(problem.layout.row_padding, kMaxLength) && within(problem.layout.column_stride, 8);
}

CaseForm::CaseForm(const LawTarget& target, const Kernel* only)
    : target_(target), kernel_is_fixed_(only != nullptr) {
  if (kernel_is_fixed_)
    kernels_.push_back(only);
  else
    for (const auto& kernel : kernels::builtin_kernels())
      if (target.suits(*kernel)) kernels_.push_back(kernel.get());
  for (const Law& law : properties::laws())
    if (target.runs(law)) laws_.push_back(&law);
}

const Law& CaseForm::drawn_law(Draw& draw) const {
  const Law& law = *draw.one_of<const Law*>(laws_);
  // The seldom ones only where they are drawn twice.
  return is_seldom(law) ? *draw.one_of<const Law*>(laws_) : law;
}

CaseInput CaseForm::drawn(Draw& draw) const {
  CaseInput input;
  input.kernel = draw.one_of<const Kernel*>(kernels_);
  input.law = &drawn_law(draw);
  properties::CaseLimits limits = properties::limits_for(*input.kernel, nullptr);
  limits.small = true;
  input.value = target_.draw(draw, limits);
  return input;
}

bool CaseForm::decode_line(std::string_view line, CaseInput& into) const {
  const std::uint64_t hash = properties::fnv1a(line) >> 32;
  into.kernel = kernels_[hash % kernels_.size()];
  if (line.starts_with("builtin:")) {
    const std::string_view name = line.substr(0, line.find(' '));
    for (const Kernel* const kernel : kernels_)
      if (kernel->description().name == name) into.kernel = kernel;
    line.remove_prefix(std::min(line.size(), name.size() + 1));
  }
  ProblemText text;
  TextError error;
  if (!parse_problem_text(line, text, error) || !is_small(text)) return false;
  const Law* const named = properties::find_law(text.law);
  into.law = named != nullptr && target_.runs(*named) ? named : laws_[hash / 64 % laws_.size()];
  Result<Case> made = properties::make_case(text, nullptr);
  if (!made.ok()) return false;
  into.value = std::move(made).value();
  return true;
}

CaseInput CaseForm::decode(std::span<const std::uint8_t> bytes) const {
  const std::string text(bytes.begin(), bytes.end());
  CaseInput input;
  if (decode_line(without_comment(text), input)) return input;
  BytesDraw draw(bytes);
  return drawn(draw);
}

std::string CaseForm::encode(const CaseInput& input) const {
  const std::string line = minimal_text(properties::to_text(input.value, input.law->name));
  return kernel_is_fixed_ ? line : input.kernel->description().name + " " + line;
}

}  // namespace attest::fuzz
