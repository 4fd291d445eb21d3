#include "bench/workload.hpp"

#include <algorithm>

#include "attest/random.hpp"

namespace attest::bench {
namespace {

constexpr Index kHeads = 8;
constexpr double kVisibleBlocks = 0.1;

Problem square(Index keys, Index head_dim) {
  Problem problem;
  problem.heads_q = problem.heads_kv = kHeads;
  problem.seq_q = problem.seq_kv = keys;
  problem.head_dim = problem.head_dim_v = head_dim;
  problem.layout.order = Layout::Order::bhsd;
  return problem;
}

Problem causal(Problem problem) {
  problem.mask.causal = Causal{};
  return problem;
}

Problem of_type(Problem problem, Dtype dtype) {
  problem.dtype = dtype;
  return problem;
}

Problem some_queries(Problem problem, Index heads, Index queries) {
  problem.heads_q = problem.heads_kv = heads;
  problem.seq_q = queries;
  return problem;
}

Problem with_gradients(Problem problem) {
  problem.backward = Backward{};
  problem.lse = LseForm::natural;
  return problem;
}

/// A tenth of the blocks, drawn without regard to rows; the diagonal is among them as far as that
/// goes, so that few rows see nothing.
BlockMask tenth_of_blocks(Index keys, Index block) {
  const Index side = (keys + block - 1) / block;
  BlockMask mask{block, block, side, side,
                 std::vector<bool>(static_cast<std::size_t>(side * side))};
  auto left = static_cast<Index>(kVisibleBlocks * static_cast<double>(side * side));
  left = std::max<Index>(left, 1);
  for (Index i = 0; i < side && left > 0; ++i, --left)
    mask.visible[static_cast<std::size_t>(i * side + i)] = true;
  SplitMix64 random(10);
  while (left > 0) {
    const std::size_t at = random.below(mask.visible.size());
    if (mask.visible[at]) continue;
    mask.visible[at] = true;
    --left;
  }
  return mask;
}

Problem with_blocks(Problem problem, Index block) {
  problem.mask.blocks = tenth_of_blocks(problem.seq_kv, block);
  return problem;
}

std::string named(const std::string& kind, const Problem& problem) {
  return kind + "d" + std::to_string(problem.head_dim) + "/T" + std::to_string(problem.seq_kv) +
         (problem.mask.causal ? "/causal" : "");
}

/// Collects workloads and gives them their names.
class Table {
 public:
  Workload& add(const std::string& kind, const Problem& problem) {
    all_.push_back({named(kind, problem), problem});
    return all_.back();
  }
  void add_both(Index keys, Index head_dim) {
    add("", square(keys, head_dim));
    add("", causal(square(keys, head_dim)));
  }
  void add_decode(Index keys, Index head_dim) {
    add("decode/", some_queries(square(keys, head_dim), kHeads, 1)).unit = Unit::gbytes;
  }
  /// Every kind that is not a square without or with the causal mask.
  void add_special(Index keys, Index gradient_keys, Index masked_keys, Index block) {
    add("bf16/", of_type(square(keys, 64), Dtype::bf16));
    add("f16/", of_type(square(keys, 64), Dtype::f16));
    add("backward/", with_gradients(square(gradient_keys, 64))).pass = Pass::backward;
    add("backward/", with_gradients(causal(square(gradient_keys, 64)))).pass = Pass::backward;
    add("blocks10/", with_blocks(square(masked_keys, 64), block)).beside_dense = true;
    add("threads2/", square(keys, 64)).threads = 2;
  }
  void add_growth(Index keys) { add("growth/", some_queries(square(keys, 64), 1, 64)); }
  void add_square(Index keys) { add("square/", some_queries(square(keys, 64), 1, keys)); }

  std::vector<Workload> found_by(const std::regex& filter) && {
    std::erase_if(all_,
                  [&](const Workload& each) { return !std::regex_search(each.name, filter); });
    return std::move(all_);
  }

 private:
  std::vector<Workload> all_;
};

void add_tiny(Table& table) {
  table.add_both(80, 64);
  table.add_both(40, 128);
  table.add_decode(300, 128);
  table.add_special(70, 24, 128, 16);
  table.add_growth(200);
}

void add_quick(Table& table) {
  table.add_both(1024, 64);
  table.add_both(1024, 128);
  table.add_decode(8192, 128);
  table.add_special(1024, 512, 2048, 64);
  for (const Index keys : {4096, 65536}) table.add_growth(keys);
}

void add_full(Table& table) {
  for (const Index keys : {512, 1024, 2048, 4096}) table.add_both(keys, 64);
  for (const Index keys : {1024, 2048}) table.add_both(keys, 128);
  for (const Index keys : {8192, 65536}) table.add_decode(keys, 128);
  table.add_special(2048, 1024, 4096, 128);
  for (const Index keys : {4096, 16384, 65536, 262144, 1048576}) table.add_growth(keys);
}

/// Share of the pairs that count as work.
double useful_share(const Problem& problem) {
  if (problem.mask.causal) return 0.5;
  if (!problem.mask.blocks) return 1;
  const std::vector<bool>& blocks = problem.mask.blocks->visible;
  return static_cast<double>(std::count(blocks.begin(), blocks.end(), true)) /
         static_cast<double>(blocks.size());
}

}  // namespace

double work_of(const Workload& workload) {
  const Problem& problem = workload.problem;
  const auto number = [](Index count) { return static_cast<double>(count); };
  if (workload.unit == Unit::gbytes)
    return 2 * number(problem.batch * problem.heads_kv * problem.seq_kv * problem.head_dim) *
           number(static_cast<Index>(size_of(problem.k_dtype())));
  const double pairs = number(problem.batch * problem.heads_q) * number(problem.seq_q) *
                       number(problem.seq_kv) * useful_share(problem);
  const double products = workload.pass == Pass::forward ? 2 : 5;
  return 2 * products * pairs * number(problem.head_dim);
}

Tiling free_tiling(const Problem& problem) {
  return {.tile_q = problem.seq_q, .tile_kv = problem.seq_kv, .splits = {}, .merge = {}};
}

std::vector<Workload> workloads(Sizes sizes, const std::regex& filter) {
  Table table;
  if (sizes == Sizes::tiny)
    add_tiny(table);
  else if (sizes == Sizes::quick)
    add_quick(table);
  else
    add_full(table);
  if (sizes == Sizes::long_run)
    for (const Index keys : {8192, 16384, 32768, 65536}) table.add_square(keys);
  return std::move(table).found_by(filter);
}

Workload small_like(const Workload& workload) {
  Workload small = workload;
  Problem& problem = small.problem;
  // Not a multiple of any tile, and more than one of most.
  const Index keys = std::min<Index>(workload.pass == Pass::forward ? 201 : 45, problem.seq_kv);
  problem.heads_q = problem.heads_kv = std::min<Index>(problem.heads_kv, 2);
  problem.seq_q = problem.seq_q == problem.seq_kv ? keys : std::min<Index>(problem.seq_q, 33);
  problem.seq_kv = keys;
  if (problem.mask.blocks) problem.mask.blocks = tenth_of_blocks(keys, 16);
  return small;
}

Workload without_mask(Workload workload) {
  workload.problem.mask = {};
  return workload;
}

}  // namespace attest::bench
