// Moves of lengths, heads, types, terms of the score and storage.
#include <algorithm>
#include <array>

#include "properties/derive.hpp"
#include "properties/moves_structure.hpp"

namespace attest::properties {
namespace {

/// One more, one fewer, or any number from `least` on; positions beyond the old ones repeat them.
std::vector<Index> resized(Index length, Index least, Draw& draw) {
  Index wanted = length;
  switch (draw.below(4)) {
    case 0:
      wanted = length + 1;
      break;
    case 1:
      wanted = length - 1;
      break;
    case 2:
      wanted = 2 * length;
      break;
    default:
      wanted = draw.between(least, 2 * length + 1);
  }
  std::vector<Index> positions = all_keys(std::max(wanted, least));
  for (Index& position : positions) position %= std::max(length, Index{1});
  return positions;
}

bool resize_keys(Case& of, Draw& draw) {
  if (!of.problem.key_lengths.empty() || of.problem.seq_kv == 0) return false;
  const KvStorage kv = of.problem.kv;
  of = select_keys(of, resized(of.problem.seq_kv, 0, draw));
  if (kv.kind == KvStorage::Kind::paged)
    of.problem.kv = shuffled_pages(of.problem, kv.page_size, draw.below(100));
  return true;
}

bool resize_queries(Case& of, Draw& draw) {
  if (!of.problem.query_lengths.empty() || of.problem.seq_q == 0) return false;
  of = select_queries(of, resized(of.problem.seq_q, 1, draw));
  return true;
}

bool resize_columns(Case& of, Draw& draw) {
  Problem& problem = of.problem;
  Index& columns = draw.chance(50) ? problem.head_dim : problem.head_dim_v;
  columns = static_cast<Index>(resized(columns, 1, draw).size());
  if (draw.chance(50)) problem.head_dim_v = problem.head_dim;
  return true;
}

bool change_member_length(Case& of, Draw& draw) {
  Problem& problem = of.problem;
  if (problem.batch < 2 || problem.kv.kind == KvStorage::Kind::paged) return false;
  const bool keys = draw.chance(70);
  std::vector<Index>& lengths = keys ? problem.key_lengths : problem.query_lengths;
  const Index longest = keys ? problem.seq_kv : problem.seq_q;
  if (lengths.empty()) lengths.assign(static_cast<std::size_t>(problem.batch), longest);
  lengths[draw.below(lengths.size())] = draw.between(0, longest);
  lengths[draw.below(lengths.size())] = longest;
  return true;
}

bool change_members_or_heads(Case& of, Draw& draw) {
  Problem& problem = of.problem;
  problem.descales.reset();
  if (problem.alibi) problem.alibi->slopes.clear();
  if (draw.chance(40)) {
    problem.batch = draw.between(1, 3);
    problem.key_lengths.clear();
    problem.query_lengths.clear();
    problem.kv = {};
    return true;
  }
  problem.heads_kv = draw.between(1, 2);
  problem.heads_q = problem.heads_kv * draw.between(1, 4);
  return true;
}

bool change_type(Case& of, Draw& draw) {
  Problem& problem = of.problem;
  problem.dtype = draw.one_of<Dtype>(kDtypes);
  problem.k_storage.reset();
  problem.v_storage.reset();
  problem.out_storage.reset();
  problem.descales.reset();
  if (!problem.scale.reciprocal_sqrt) problem.scale = {};
  return true;
}

bool change_scale_or_results(Case& of, Draw& draw) {
  Problem& problem = of.problem;
  constexpr std::array kPolicies{AllMaskedPolicy::zero, AllMaskedPolicy::reject};
  constexpr std::array kForms{LseForm::natural, LseForm::none, LseForm::base_two, LseForm::max_sum};
  switch (draw.below(3)) {
    case 0:
      problem.scale = draw.chance(50) ? Scale{} : Scale{false, draw.chance(50) ? 1.0 : 0.5};
      return true;
    case 1:
      problem.all_masked = draw.one_of<AllMaskedPolicy>(kPolicies);
      return true;
    default:
      problem.lse = draw.one_of<LseForm>(kForms);
      return true;
  }
}

bool change_term(Case& of, Draw& draw) {
  Problem& problem = of.problem;
  switch (draw.below(4)) {
    case 0:
      problem.sink = problem.sink ? std::optional<Sink>{} : Sink{draw.chance(30), draw.chance(70)};
      return true;
    case 1:
      problem.bias = problem.bias ? std::optional<Bias>{}
                                  : Bias{draw.chance(30), draw.chance(50), draw.chance(70), {}};
      return true;
    case 2:
      problem.softcap = problem.softcap == 0 ? static_cast<double>(draw.between(1, 16)) : 0;
      return true;
    default:
      problem.alibi = problem.alibi ? std::optional<Alibi>{} : Alibi{};
      return true;
  }
}

bool change_storage(Case& of, Draw& draw) {
  Problem& problem = of.problem;
  constexpr std::array kOrders{Layout::Order::bshd, Layout::Order::bhsd, Layout::Order::sbhd};
  switch (draw.below(4)) {
    case 0:
      problem.layout = {draw.one_of<Layout::Order>(kOrders), draw.between(0, 2),
                        draw.between(1, 2)};
      return true;
    case 1:
      problem.kv = shuffled_pages(problem, draw.between(1, 4), draw.below(100));
      return true;
    case 2:
      problem.kv = {KvStorage::Kind::left_padded, 0, 0, {}};
      return true;
    default:
      problem.kv = {};
      problem.layout = {};
      return true;
  }
}

constexpr std::array kMoves{
    StructureMove{"resize keys", resize_keys},
    StructureMove{"resize queries", resize_queries},
    StructureMove{"resize columns", resize_columns},
    StructureMove{"change a member's length", change_member_length},
    StructureMove{"change members or heads", change_members_or_heads},
    StructureMove{"change the type", change_type},
    StructureMove{"change scale or results", change_scale_or_results},
    StructureMove{"change a term", change_term},
    StructureMove{"change the storage", change_storage},
};

}  // namespace

std::span<const StructureMove> moves_of_shape() {
  return kMoves;
}

}  // namespace attest::properties
