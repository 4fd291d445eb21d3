// Random problem texts with every feature, for the tests of the problem text.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attest/problem_text.hpp"
#include "page_tables.hpp"
#include "test_random_problem_mask.hpp"

namespace attest {

class RandomProblemText {
 public:
  explicit RandomProblemText(std::uint64_t seed) : draw_(seed) {}

  ProblemText next() {
    ProblemText text;
    fill_shape(text.problem);
    fill_types(text.problem);
    fill_band(draw_, text.problem.mask);
    fill_tables(draw_, text.problem);
    fill_terms(text.problem);
    fill_descales(text.problem);
    fill_storage(text.problem);
    fill_results(text.problem);
    fill_tiling(text);
    fill_values(text);
    if (draw_.chance(3))
      text.law = draw_.pick<std::string>({"bound.out", "bound.lse", "merge.order", "tile=x"});
    return text;
  }

 private:
  void fill_lengths(Index batch, Index& longest, std::vector<Index>& lengths) {
    if (batch == 0 || draw_.chance(2)) return;
    for (Index b = 0; b < batch; ++b) lengths.push_back(draw_.between(0, 5));
    longest = *std::max_element(lengths.begin(), lengths.end());
  }

  void fill_shape(Problem& problem) {
    problem.batch = draw_.between(0, 3);
    problem.heads_kv = draw_.between(1, 2);
    problem.heads_q = problem.heads_kv * draw_.between(1, 2);
    problem.seq_q = draw_.between(0, 4);
    problem.seq_kv = draw_.between(0, 5);
    problem.head_dim = draw_.between(1, 3);
    problem.head_dim_v = draw_.chance(2) ? problem.head_dim : draw_.between(1, 3);
    fill_lengths(problem.batch, problem.seq_q, problem.query_lengths);
    fill_lengths(problem.batch, problem.seq_kv, problem.key_lengths);
  }

  void fill_types(Problem& problem) {
    problem.dtype = draw_.pick<Dtype>({kDtypes.begin(), kDtypes.end()});
    if (problem.dtype != Dtype::f64 && draw_.chance(3)) {
      const std::vector<Dtype> narrow{Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::e4m3,
                                      Dtype::e5m2};
      const Dtype k = draw_.pick(narrow);
      const Dtype v = draw_.chance(2) ? k : draw_.pick(narrow);
      if (k != problem.dtype) problem.k_storage = k;
      if (v != k) problem.v_storage = v;
    }
    const Dtype out = draw_.pick<Dtype>({Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16});
    if (draw_.chance(3) && out != problem.out_dtype()) problem.out_storage = out;
  }

  void fill_terms(Problem& problem) {
    const Dtype compute = problem.compute_dtype();
    if (draw_.chance(2)) problem.scale = {false, draw_.finite_number(compute)};
    if (draw_.chance(3)) problem.softcap = draw_.positive_number(compute);
    if (draw_.chance(3)) problem.order = {draw_.chance(2), draw_.chance(2), draw_.chance(2)};
    if (draw_.chance(3)) {
      problem.bias = Bias{draw_.chance(2), draw_.chance(2), draw_.chance(2), std::nullopt};
      const Dtype dtype = draw_.pick<Dtype>({Dtype::f32, Dtype::bf16, Dtype::f16});
      if (dtype != compute && draw_.chance(2)) problem.bias->dtype = dtype;
    }
    if (draw_.chance(3)) fill_alibi(problem);
    if (draw_.chance(3)) problem.sink = Sink{draw_.chance(2), draw_.chance(2)};
    problem.qv = draw_.chance(4);
    problem.v_is_k_view = problem.head_dim_v <= problem.head_dim &&
                          problem.v_dtype() == problem.k_dtype() && draw_.chance(3);
  }

  void fill_alibi(Problem& problem) {
    Alibi& alibi = problem.alibi.emplace();
    alibi.form = static_cast<Alibi::Form>(draw_.between(0, 2));
    if (draw_.chance(2)) alibi.alignment = Causal::Alignment::top_left;
    if (draw_.chance(2)) return;
    for (Index h = 0; h < problem.heads_q; ++h)
      alibi.slopes.push_back(draw_.finite_number(Dtype::f32));
  }

  std::vector<double> factors(const Problem& problem, Dtype dtype) {
    const Index pairs = problem.batch * problem.heads_kv;
    std::vector<double> list(pairs == 0 || draw_.chance(2) ? 1 : static_cast<std::size_t>(pairs));
    for (double& factor : list)
      factor = is_fp8(dtype) ? std::clamp(draw_.positive_number(Dtype::f32), 0x1p-60, 0x1p60) : 1;
    return list;
  }

  void fill_descales(Problem& problem) {
    const Dtype k = problem.k_dtype();
    const Dtype v = problem.v_dtype();
    if (!is_fp8(problem.dtype) && !is_fp8(k) && !is_fp8(v)) return;
    if (draw_.chance(2)) return;
    problem.descales = Descales{factors(problem, problem.dtype), factors(problem, k), {}};
    problem.descales->v = problem.v_is_k_view ? problem.descales->k : factors(problem, v);
  }

  void fill_storage(Problem& problem) {
    Layout& layout = problem.layout;
    if (draw_.chance(2)) layout.order = static_cast<Layout::Order>(draw_.between(0, 3));
    if (draw_.chance(4)) layout.row_padding = draw_.between(0, 3);
    if (draw_.chance(4)) layout.column_stride = draw_.between(1, 3);
    if (draw_.chance(4) && layout.order != Layout::Order::thd)
      problem.kv.kind = KvStorage::Kind::left_padded;
    if (!draw_.chance(3)) return;
    problem.kv = {KvStorage::Kind::paged, draw_.between(1, 3), 0, {}};
    problem.kv = draw_.chance(2) ? random_pages(problem, draw_.bits()) : pages_in_order(problem);
    if (!draw_.chance(2)) return;
    ++problem.kv.pages;
    for (std::vector<Index>& table : problem.kv.page_table) table.push_back(problem.kv.pages - 1);
  }

  void fill_results(Problem& problem) {
    if (draw_.chance(2)) problem.all_masked = static_cast<AllMaskedPolicy>(draw_.between(0, 4));
    if (draw_.chance(2)) problem.lse = static_cast<LseForm>(draw_.between(0, 3));
    if (problem.lse != LseForm::max_sum && draw_.chance(3))
      problem.empty_lse = draw_.finite_number(problem.compute_dtype());
    if (draw_.chance(6)) problem.empty_lse.reset();
    const bool zero = problem.all_masked == AllMaskedPolicy::zero ||
                      problem.all_masked == AllMaskedPolicy::reject;
    const bool natural = problem.lse == LseForm::none || problem.lse == LseForm::natural;
    const bool fp8 = problem.has_fp8_inputs();
    const bool counted = !problem.sink || problem.sink->in_lse;
    if (problem.qv || fp8 || !counted || !zero || !natural || !draw_.chance(2)) return;
    const bool has_sink = problem.sink && !problem.sink->zero;
    problem.backward =
        Backward{problem.bias && draw_.chance(2), has_sink && draw_.chance(2), draw_.chance(2)};
  }

  void fill_tiling(ProblemText& text) {
    Tiling& tiling = text.tiling;
    const Index seq_kv = text.problem.seq_kv;
    tiling.tile_q =
        draw_.chance(8) ? static_cast<Index>(draw_.bits() >> 1) | 1 : draw_.between(1, 20);
    tiling.tile_kv = draw_.chance(2) ? tiling.tile_q : draw_.between(1, 20);
    tiling.splits.count =
        draw_.chance(8) ? draw_.between(1, KvSplits::max_count) : draw_.between(1, 6);
    if (draw_.chance(2)) {
      tiling.splits.count = 1;
      Index cut = 0;
      for (Index left = draw_.between(1, 4); left > 0; --left)
        tiling.splits.cuts.push_back(cut = draw_.between(cut, seq_kv));
    }
    MergeOrder& merge = tiling.merge;
    merge.kind = static_cast<MergeOrder::Kind>(draw_.between(0, 4));
    if (merge.kind == MergeOrder::Kind::random) merge.seed = draw_.bits();
    if (merge.kind != MergeOrder::Kind::explicit_tree) return;
    if (tiling.splits.count > 6) tiling.splits.count = 6;
    const std::size_t leaves =
        draw_.chance(2) ? split_ranges(tiling, seq_kv).size() : all_tiles(tiling, seq_kv).size();
    merge.tree =
        make_merge_tree({MergeOrder::Kind::random, draw_.bits(), {}}, static_cast<Index>(leaves))
            .value();
  }

  void fill_values(ProblemText& text) {
    ValueRecipe& values = text.values;
    values.kind = static_cast<ValueRecipe::Kind>(draw_.between(0, 2));
    values.seed = draw_.chance(2) ? draw_.bits() % 10 : draw_.bits();
    if (values.kind == ValueRecipe::Kind::family)
      values.name = draw_.pick<std::string>({"normal", "spike", "lits"});
    if (values.kind == ValueRecipe::Kind::real)
      values.name = draw_.pick<std::string>({"rows", "a-b.c", "lit", "real"});
    if (values.kind == ValueRecipe::Kind::literal) fill_literal(text.problem, values);
  }

  void fill_literal(const Problem& problem, ValueRecipe& values) {
    const Dtype compute = problem.compute_dtype();
    values.name = "";
    values.q = draw_.numbers(problem.q_extents(), problem.dtype);
    values.k = draw_.numbers(problem.k_extents(), problem.k_dtype());
    if (!problem.v_is_k_view) values.v = draw_.numbers(problem.v_extents(), problem.v_dtype());
    values.bias = draw_.numbers(problem.bias_extents(), problem.bias_dtype());
    values.sink = draw_.numbers(problem.sink_extents(), compute);
    for (double& logit : values.sink)
      if (!std::isfinite(logit)) logit = 0;
    values.qv = draw_.numbers(problem.qv_extents(), problem.dtype);
    if (problem.backward) values.dout = draw_.numbers(problem.out_extents(), problem.out_dtype());
    values.dlse = draw_.numbers(problem.dlse_extents(), compute);
  }

  Draw draw_;
};

}  // namespace attest
