// Mistakes about what a problem says: each mutant computes the problem that it took it for.
#include <algorithm>
#include <limits>
#include <optional>

#include "mutants/changed_problem.hpp"

namespace attest::mutants {
namespace {

void window_right_exclusive(Problem& problem) {
  auto& right = problem.mask.window.right;
  if (right && *right > 0) --*right;
}

void forgets_first_tokens(Problem& problem) {
  problem.mask.keep_first = 0;
}

void prefix_one_longer(Problem& problem) {
  if (problem.mask.prefix) ++*problem.mask.prefix;
}

void chunks_of_the_key_axis(Problem& problem) {
  if (problem.mask.alignment && problem.mask.chunk && problem.mask.window.none())
    problem.mask.alignment = Causal{};
}

void documents_of_the_next_key(Problem& problem) {
  if (!problem.mask.segments || problem.mask.segments->k.empty()) return;
  std::vector<Index>& keys = problem.mask.segments->k;
  std::rotate(keys.begin(), keys.begin() + 1, keys.end());
}

/// The corner of the longest lengths, for every batch member.
void corner_of_the_longest(Problem& problem) {
  auto& causal = problem.mask.causal;
  if (!causal || causal->alignment != Causal::Alignment::bottom_right) return;
  causal = Causal{Causal::Alignment::explicit_offset, problem.seq_kv - problem.seq_q};
}

void blocks_from_the_last_key(Problem& problem) {
  auto& blocks = problem.mask.blocks;
  if (!blocks) return;
  for (Index row = 0; row < blocks->rows; ++row)
    std::reverse(blocks->visible.begin() + row * blocks->columns,
                 blocks->visible.begin() + (row + 1) * blocks->columns);
}

void finite_mask_ignored(Problem& problem) {
  if (!problem.mask.additive) return;
  for (double& number : problem.mask.additive->value)
    if (number > -std::numeric_limits<double>::infinity()) number = 0;
}

void softcap_before_everything(Problem& problem) {
  problem.order = {};
}

void alibi_from_top_left(Problem& problem) {
  if (problem.alibi) problem.alibi->alignment = Causal::Alignment::top_left;
}

void alibi_of_the_paper_for_any_heads(Problem& problem) {
  if (problem.alibi) problem.alibi->slopes.assign(static_cast<std::size_t>(problem.heads_q), 0.5);
}

void sink_never_in_lse(Problem& problem) {
  if (problem.sink) problem.sink->in_lse = false;
}

void natural_for_base_two(Problem& problem) {
  if (problem.lse == LseForm::base_two) problem.lse = LseForm::natural;
}

void descales_of_the_first_head(Problem& problem) {
  if (!problem.descales) return;
  for (std::vector<double>* const factors :
       {&problem.descales->q, &problem.descales->k, &problem.descales->v})
    std::fill(factors->begin(), factors->end(), factors->front());
}

/// Tables that are no longer than that of the first member become it.
void pages_of_the_first_member(Problem& problem) {
  auto& tables = problem.kv.page_table;
  if (problem.kv.kind != KvStorage::Kind::paged || tables.empty()) return;
  for (std::vector<Index>& table : tables)
    if (table.size() <= tables.front().size()) table = tables.front();
}

template <class Real>
struct SinkInEverySplit : kernels::TiledSteps<Real> {
  Index times_of_sink(std::size_t units) const override { return static_cast<Index>(units); }
};

/// Offset of the bottom right corner of the longest lengths.
void use_longest_corner(std::optional<Causal>& diagonal, const Problem& problem) {
  if (diagonal && diagonal->alignment == Causal::Alignment::bottom_right)
    diagonal = Causal{Causal::Alignment::explicit_offset, problem.seq_kv - problem.seq_q};
}

void chunk_corner_of_the_longest(Problem& problem) {
  if (problem.mask.chunk) use_longest_corner(problem.mask.alignment, problem);
}

void window_corner_of_the_longest(Problem& problem) {
  if (!problem.mask.window.none()) use_longest_corner(problem.mask.alignment, problem);
}

/// First tokens are seen whatever the right limit says.
template <class Real>
struct KeepsBeyondTheRightLimit : kernels::TiledSteps<Real> {
  bool skips(const kernels::RowContext&, KeyRange) const override { return false; }
  bool sees(const kernels::RowContext& row, Index key) const override {
    Problem unlimited = row.problem;
    if (unlimited.mask.window.left && key < unlimited.mask.keep_first) unlimited.mask.window = {};
    return visible(unlimited, row.b, row.query, key);
  }
};

struct Mistake {
  std::string_view name;
  std::string_view sentence;
  std::vector<Feature> features;
  void (*change)(Problem&);
  std::string_view killed_by;
};

std::vector<Mistake> mistakes() {
  return {
      {"window_right_exclusive",
       "the right limit of a window counts the query itself",
       {Feature::window},
       window_right_exclusive,
       "mask.window_edges"},
      {"forgets_first_tokens",
       "a window drops the first tokens that it should keep",
       {Feature::window, Feature::keep_first},
       forgets_first_tokens,
       "bound.out"},
      {"prefix_one_longer",
       "a prefix has one token more",
       {Feature::prefix},
       prefix_one_longer,
       "bound.out"},
      {"chunks_of_the_key_axis",
       "chunks start at the top left corner, whatever the alignment",
       {Feature::chunk},
       chunks_of_the_key_axis,
       "bound.out"},
      {"documents_of_the_next_key",
       "a key has the document of the key after it",
       {Feature::segments},
       documents_of_the_next_key,
       "mask.visible_set"},
      {"corner_of_the_longest",
       "the bottom right corner is that of the longest lengths",
       {Feature::query_lengths},
       corner_of_the_longest,
       "bound.out"},
      {"chunk_corner_of_the_longest",
       "chunks stand by the bottom right corner of the longest lengths",
       {Feature::chunk, Feature::query_lengths},
       chunk_corner_of_the_longest,
       "mask.alignment"},
      {"window_corner_of_the_longest",
       "windows stand by the bottom right corner of the longest lengths",
       {Feature::window},
       window_corner_of_the_longest,
       "mask.window_edges"},
      {"blocks_from_the_last_key",
       "a block mask lists the blocks from the last key on",
       {Feature::block_mask},
       blocks_from_the_last_key,
       "mask.visible_set"},
      {"finite_mask_ignored",
       "an additive mask only excludes",
       {Feature::additive_mask},
       finite_mask_ignored,
       "bound.out"},
      {"softcap_before_everything",
       "softcap comes before every addition",
       {Feature::softcap, Feature::score_order, Feature::bias},
       softcap_before_everything,
       "bound.out"},
      {"alibi_from_top_left",
       "ALiBi measures distances from the top left corner",
       {Feature::alibi},
       alibi_from_top_left,
       "terms.alibi_forms"},
      {"one_alibi_slope",
       "every head has the ALiBi slope 1/2",
       {Feature::alibi},
       alibi_of_the_paper_for_any_heads,
       "bound.out"},
      {"sink_never_in_lse",
       "the lse never counts the sink",
       {Feature::sink},
       sink_never_in_lse,
       "bound.lse"},
      {"natural_for_base_two",
       "the lse is natural where base two is asked for",
       {Feature::lse_base_two},
       natural_for_base_two,
       "bound.lse"},
      {"descales_of_the_first_head",
       "every head is multiplied by the descale of the first",
       {Feature::descales, Feature::out_dtype},
       descales_of_the_first_head,
       "bound.out"},
      {"pages_of_the_first_member",
       "batch members read the pages of the first one",
       {Feature::paged},
       pages_of_the_first_member,
       "storage.paged"},
  };
}

}  // namespace

void append_problem_mutants(std::vector<Mutant>& mutants) {
  for (const Mistake& mistake : mistakes()) {
    KernelDescription description = describe_with(mistake.name, mistake.sentence, mistake.features);
    if (description.capabilities.has(Feature::descales))
      description.capabilities.dtypes = {Dtype::f32, Dtype::e4m3, Dtype::e5m2};
    mutants.push_back(changed_problem(std::move(description), mistake.change, mistake.killed_by));
  }
  mutants.push_back(
      {std::make_unique<kernels::TiledKernel<SinkInEverySplit>>(
           describe_with("sink_in_every_split", "every kv split counts the sink", {Feature::sink}),
           SummaryScope::split),
       "tiling.kv_splits"});
  mutants.push_back({std::make_unique<kernels::TiledKernel<KeepsBeyondTheRightLimit>>(
                         describe_with("keeps_beyond_the_right_limit",
                                       "first tokens are kept beyond the right limit of a window",
                                       {Feature::window, Feature::keep_first}),
                         SummaryScope::split),
                     "mask.alignment"});
}

}  // namespace attest::mutants
