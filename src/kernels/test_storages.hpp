// One ragged problem in every storage, with numbers that do not depend on where they lie.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/test_variants.hpp"

namespace attest::kernels {

/// Members of different lengths, one of them without keys, and grouped heads.
inline Problem ragged_problem(Dtype dtype) {
  Problem problem;
  problem.dtype = dtype;
  problem.batch = 3;
  problem.heads_q = 4;
  problem.heads_kv = 2;
  problem.seq_q = 4;
  problem.seq_kv = 5;
  problem.query_lengths = {4, 2, 3};
  problem.key_lengths = {3, 5, 0};
  problem.head_dim = 3;
  problem.head_dim_v = 2;
  problem.mask.causal = Causal{Causal::Alignment::bottom_right, 0};
  problem.lse = LseForm::natural;
  return problem;
}

/// A number of any logical place, exact in bf16: an eighth of an integer below 2^6.
inline double number_at(std::uint64_t tensor, const RowIndex& row, Index column) {
  std::uint64_t key = tensor;
  for (const Index part : {row.batch, row.head, row.query, column})
    key = key * 61 + static_cast<std::uint64_t>(part);
  return static_cast<double>(SplitMix64(key).below(127)) / 32 - 2;
}

inline VariantCase numbered_case(const Problem& problem, const Tiling& tiling) {
  VariantCase call(problem, tiling);
  for_each_row(problem, [&](const RowIndex& of_row) {
    const auto [b, h, query] = of_row;
    for (Index c = 0; c < problem.head_dim; ++c)
      call.set_row(call.q, {b, h, query}, c, number_at(1, {b, h, query}, c));
  });
  for_each_key(problem, [&](Index b, Index h, Index key) {
    const StoredRow at = stored_key(problem, b, key);
    for (Index c = 0; c < problem.head_dim; ++c)
      call.k.set(at.b, h, at.row, c, number_at(2, {b, h, key}, c));
    for (Index c = 0; c < problem.head_dim_v; ++c)
      call.v.set(at.b, h, at.row, c, number_at(3, {b, h, key}, c));
  });
  return call;
}

struct Storage {
  std::string name;
  std::function<void(Problem&)> apply;
};

inline std::vector<Storage> storages() {
  using Order = Layout::Order;
  const auto ordered = [](Order order, Index padding, Index stride) {
    return [=](Problem& problem) { problem.layout = {order, padding, stride}; };
  };
  const auto paged = [](Order order) {
    return [=](Problem& problem) {
      problem.layout.order = order;
      problem.kv.kind = KvStorage::Kind::paged;
      problem.kv.page_size = 2;
      problem.kv.pages = 7;
      problem.kv.page_table = {{5, 0}, {3, 6, 1}, {}};  // 2 and 4 hold nothing
    };
  };
  return {{"bhsd", ordered(Order::bhsd, 0, 1)},
          {"sbhd", ordered(Order::sbhd, 0, 1)},
          {"bshd with padded rows", ordered(Order::bshd, 3, 1)},
          {"bhsd with columns apart", ordered(Order::bhsd, 1, 3)},
          {"thd", ordered(Order::thd, 0, 1)},
          {"thd with padded rows and columns apart", ordered(Order::thd, 2, 2)},
          {"left-padded", [](Problem& p) { p.kv.kind = KvStorage::Kind::left_padded; }},
          {"pages in NHD", paged(Order::bshd)},
          {"pages in HND", paged(Order::bhsd)}};
}

}  // namespace attest::kernels
