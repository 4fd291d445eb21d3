// A paged cache under random steps: append, fork, evict, reuse of pages, decode. The model is the
// list of tokens of every sequence; a decode must give the bits of the same tokens in dense memory.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <map>
#include <memory>

#include "attest/random.hpp"
#include "kernels/registry.hpp"
#include "properties/judge.hpp"
#include "properties/paged_cache.hpp"

namespace attest::properties {
namespace {

constexpr Index kMostSequences = 4;

/// What the cache should hold. Sequences have the numbers that the cache gives them.
struct Tokens {
  std::map<Index, std::vector<Token>> sequences;
  Index next_sequence = 0;
};

/// The cache that is tried, and the kernel that reads it.
struct Serving {
  const Kernel* kernel = nullptr;
  PagedCache* cache = nullptr;
};

Token random_token(const CacheShape& shape, std::uint64_t seed) {
  SplitMix64 random(seed);
  const auto numbers = [&](Index count) {
    std::vector<double> list;
    for (Index i = 0; i < count; ++i) list.push_back(static_cast<double>(random.below(33)) / 8 - 2);
    return list;
  };
  Token token;
  token.k = numbers(shape.heads_kv * shape.head_dim);
  token.v = numbers(shape.heads_kv * shape.head_dim_v);
  return token;
}

/// The tokens in dense memory, one query a sequence.
Case dense_case(const Tokens& tokens, const CacheShape& shape) {
  Case dense;
  Problem& problem = dense.problem;
  problem.batch = static_cast<Index>(tokens.sequences.size());
  problem.heads_q = 2 * shape.heads_kv;
  problem.heads_kv = shape.heads_kv;
  problem.head_dim = shape.head_dim;
  problem.head_dim_v = shape.head_dim_v;
  problem.lse = LseForm::natural;
  problem.mask.causal = Causal{Causal::Alignment::bottom_right, 0};
  std::vector<const std::vector<Token>*> members;
  problem.seq_kv = 0;
  for (const auto& [name, list] : tokens.sequences) {
    members.push_back(&list);
    problem.key_lengths.push_back(static_cast<Index>(list.size()));
    problem.seq_kv = std::max(problem.seq_kv, problem.key_lengths.back());
  }
  SplitMix64 random(static_cast<std::uint64_t>(problem.seq_kv));
  dense.q = filled(Dtype::f32, problem.q_extents(), [&](Index, Index, Index, Index) {
    return static_cast<double>(random.below(33)) / 8 - 2;
  });
  const auto rows = [&](std::vector<double> Token::*part, Index columns) {
    return [&members, part, columns](Index b, Index h, Index key, Index c) {
      const std::vector<Token>& list = *members[static_cast<std::size_t>(b)];
      if (key >= static_cast<Index>(list.size())) return 0.0;
      return (list[static_cast<std::size_t>(key)].*part)[static_cast<std::size_t>(h * columns + c)];
    };
  };
  dense.k = filled(Dtype::f32, problem.k_extents(), rows(&Token::k, shape.head_dim));
  dense.v = filled(Dtype::f32, problem.v_extents(), rows(&Token::v, shape.head_dim_v));
  becomes_literal(dense);
  return dense;
}

/// The same problem on the pages of the cache.
Outputs decode(const Serving& serving, const Tokens& tokens, const Case& dense) {
  const PagedCache& cache = *serving.cache;
  Problem paged = dense.problem;
  paged.kv = {KvStorage::Kind::paged, cache.shape().page_size, cache.shape().pages, {}};
  for (const auto& [name, list] : tokens.sequences)
    paged.kv.page_table.push_back(cache.pages(name));
  Outputs outputs;
  outputs.out = Tensor(Dtype::f32, paged.out_extents());
  outputs.lse = Tensor(Dtype::f32, paged.lse_extents());
  outputs.status = serving.kernel->forward(
      paged, dense.tiling,
      {dense.q.ref(), cache.k(), cache.v(), outputs.out.ref(), outputs.lse.ref()});
  return outputs;
}

using Step = rc::state::Command<Tokens, Serving>;

/// A live sequence, drawn by its place in the list.
Index any_sequence(const Tokens& tokens) {
  RC_PRE(!tokens.sequences.empty());
  const auto place = *rc::gen::inRange<std::size_t>(0, tokens.sequences.size());
  return std::next(tokens.sequences.begin(), static_cast<std::ptrdiff_t>(place))->first;
}

struct Begin : Step {
  void checkPreconditions(const Tokens& tokens) const override {
    RC_PRE(static_cast<Index>(tokens.sequences.size()) < kMostSequences);
  }
  void apply(Tokens& tokens) const override { tokens.sequences[tokens.next_sequence++] = {}; }
  void run(const Tokens& tokens, Serving& serving) const override {
    RC_ASSERT(serving.cache->begin() == tokens.next_sequence);
  }
  void show(std::ostream& out) const override { out << "begin"; }
};

struct Append : Step {
  Index sequence;
  std::uint64_t seed;
  explicit Append(const Tokens& tokens)
      : sequence(any_sequence(tokens)), seed(*rc::gen::inRange<std::uint64_t>(0, 1000)) {}
  void checkPreconditions(const Tokens& tokens) const override {
    RC_PRE(tokens.sequences.contains(sequence));
    // Enough pages for every sequence alone: the model knows nothing of pages.
    Index pages = 0;
    for (const auto& [name, list] : tokens.sequences)
      pages += static_cast<Index>(list.size()) / CacheShape{}.page_size + 2;
    RC_PRE(pages <= CacheShape{}.pages);
  }
  void apply(Tokens& tokens) const override {
    tokens.sequences[sequence].push_back(random_token(CacheShape{}, seed));
  }
  void run(const Tokens&, Serving& serving) const override {
    RC_ASSERT(serving.cache->append(sequence, random_token(CacheShape{}, seed)).ok());
  }
  void show(std::ostream& out) const override { out << "append " << seed << " to " << sequence; }
};

struct Fork : Step {
  Index sequence;
  explicit Fork(const Tokens& tokens) : sequence(any_sequence(tokens)) {}
  void checkPreconditions(const Tokens& tokens) const override {
    RC_PRE(tokens.sequences.contains(sequence));
    RC_PRE(static_cast<Index>(tokens.sequences.size()) < kMostSequences);
  }
  void apply(Tokens& tokens) const override {
    tokens.sequences[tokens.next_sequence++] = tokens.sequences.at(sequence);
  }
  void run(const Tokens& tokens, Serving& serving) const override {
    RC_ASSERT(serving.cache->fork(sequence) == tokens.next_sequence);
  }
  void show(std::ostream& out) const override { out << "fork " << sequence; }
};

struct Evict : Step {
  Index sequence;
  explicit Evict(const Tokens& tokens) : sequence(any_sequence(tokens)) {}
  void checkPreconditions(const Tokens& tokens) const override {
    RC_PRE(tokens.sequences.contains(sequence));
  }
  void apply(Tokens& tokens) const override { tokens.sequences.erase(sequence); }
  void run(const Tokens&, Serving& serving) const override {
    serving.cache->evict(sequence);
    serving.cache->poison_unused();
  }
  void show(std::ostream& out) const override { out << "evict " << sequence; }
};

struct Decode : Step {
  void checkPreconditions(const Tokens& tokens) const override {
    RC_PRE(!tokens.sequences.empty());
  }
  void run(const Tokens& tokens, Serving& serving) const override {
    const Case dense = dense_case(tokens, serving.cache->shape());
    const Outputs paged = decode(serving, tokens, dense);
    RC_ASSERT(paged.status.ok());
    const Outputs want = run_kernel(*serving.kernel, dense);
    Tally tally;
    for_each_row(dense.problem, [&](const RowIndex& row) {
      same_row_bits(tally, row, paged, want, "pages or dense memory must not matter");
    });
    RC_ASSERT(tally.verdict().outcome == Outcome::ok);
    const Outcome judged = judge_outputs(*serving.kernel, dense, want, Part::out).outcome;
    RC_ASSERT((judged == Outcome::ok || judged == Outcome::weak));
  }
  void show(std::ostream& out) const override { out << "decode"; }
};

template <class Cache>
bool survives(const Kernel& kernel) {
  return rc::check("a paged cache decodes like the list of its tokens", [&] {
    Cache cache{CacheShape{}};
    cache.poison_unused();
    Serving serving{&kernel, &cache};
    rc::state::check(
        Tokens{}, serving,
        rc::state::gen::execOneOfWithArgs<Begin, Append, Append, Append, Fork, Evict, Decode>());
  });
}

TEST(CacheMachine, EveryKernelThatKnowsPagesDecodesLikeTheListOfTokens) {
  int tried = 0;
  for (const auto& kernel : kernels::builtin_kernels()) {
    if (!kernel->description().capabilities.has(Feature::paged)) continue;
    ++tried;
    EXPECT_TRUE(survives<PagedCache>(*kernel)) << kernel->description().name;
  }
  EXPECT_GE(tried, 3);
}

// Caches that are wrong on purpose: the machine must find each.

struct WritesIntoSharedPages : PagedCache {
  using PagedCache::PagedCache;
  bool must_copy(Index) const override { return false; }
};

struct FreesSharedPages : PagedCache {
  using PagedCache::PagedCache;
  void release(Index page) override { set_users(page, 0); }
};

struct CopiesOneSlotLess : PagedCache {
  using PagedCache::PagedCache;
  Index copied_slots(Index filled) const override { return filled - 1; }
};

const Kernel& paged_kernel() {
  return **std::find_if(
      kernels::builtin_kernels().begin(), kernels::builtin_kernels().end(),
      [](const auto& kernel) { return kernel->description().name == "builtin:scalar_sequential"; });
}

TEST(CacheMachine, FindsACacheThatWritesIntoSharedPages) {
  EXPECT_FALSE(survives<WritesIntoSharedPages>(paged_kernel()));
}

TEST(CacheMachine, FindsACacheThatFreesSharedPages) {
  EXPECT_FALSE(survives<FreesSharedPages>(paged_kernel()));
}

TEST(CacheMachine, FindsACacheThatCopiesOneSlotLess) {
  EXPECT_FALSE(survives<CopiesOneSlotLess>(paged_kernel()));
}

}  // namespace
}  // namespace attest::properties
