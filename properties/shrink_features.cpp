#include <limits>

#include "properties/shrink_candidates.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

Index flag(bool statement) {
  return statement ? 1 : 0;
}

Index storage_cost(const Problem& problem) {
  const Layout& layout = problem.layout;
  return 2 * flag(layout.order != Layout::Order::bshd) + flag(layout.row_padding > 0) +
         flag(layout.column_stride > 1) + 3 * flag(problem.kv.kind != KvStorage::Kind::dense) +
         flag(problem.v_is_k_view);
}

Index narrow(Dtype dtype) {
  return flag(dtype != Dtype::f32 && dtype != Dtype::f64);
}

Index types_cost(const Problem& problem) {
  return narrow(problem.dtype) + narrow(problem.k_dtype()) + narrow(problem.v_dtype()) +
         narrow(problem.out_dtype()) + flag(problem.out_dtype() != problem.dtype) +
         2 * flag(problem.descales.has_value());
}

Index terms_cost(const Problem& problem) {
  const ScoreOrder& order = problem.order;
  Index cost = flag(order.bias_before_softcap) + flag(order.alibi_before_softcap) +
               flag(order.mask_before_softcap) + 2 * flag(problem.softcap != 0) +
               2 * flag(problem.qv);
  if (problem.bias)
    cost += 2 + flag(problem.bias->per_batch) + flag(problem.bias->per_head) +
            flag(problem.bias->per_query) + flag(problem.bias->dtype.has_value());
  if (problem.alibi)
    cost += 2 + flag(!problem.alibi->slopes.empty()) +
            flag(problem.alibi->form != Alibi::Form::absolute) +
            flag(problem.alibi->alignment != Causal::Alignment::top_left);
  if (problem.sink) cost += 2 + flag(!problem.sink->zero) + flag(!problem.sink->in_lse);
  return cost;
}

Index results_cost(const Problem& problem) {
  Index cost = flag(problem.lse == LseForm::base_two || problem.lse == LseForm::max_sum) +
               flag(problem.empty_lse != Problem{}.empty_lse) +
               flag(problem.all_masked == AllMaskedPolicy::nan ||
                    problem.all_masked == AllMaskedPolicy::mean ||
                    problem.all_masked == AllMaskedPolicy::any);
  if (const auto& backward = problem.backward)
    cost += 1 + flag(backward->dbias) + flag(backward->dsink) + flag(backward->dlse);
  return cost;
}

/// All tensors in f32, which holds every narrower number.
void widen(Case& c) {
  Problem& problem = c.problem;
  if (problem.compute_dtype() == Dtype::f64) return;
  problem.dtype = Dtype::f32;
  problem.k_storage.reset();
  problem.v_storage.reset();
  problem.out_storage.reset();
  problem.descales.reset();
  if (problem.bias) problem.bias->dtype.reset();
  for (const CaseTensor& of : case_tensors()) {
    const Tensor from = c.*of.tensor;
    if (from.extents() == Extents{}) continue;
    c.*of.tensor = filled(
        of.dtype(problem), from.extents(),
        [&](Index b, Index h, Index row, Index column) { return from.get(b, h, row, column); });
  }
  becomes_literal(c);
}

void strip_storage(Candidates& candidates) {
  candidates.offer_changed([](Case& c) { c = densely_stored(std::move(c)); });
  candidates.offer_changed([](Case& c) { c.problem.layout = {}; });
  candidates.offer_changed([](Case& c) { c.problem.kv = {}; });
  candidates.offer_changed([](Case& c) {
    c.problem.layout.row_padding = 0;
    c.problem.layout.column_stride = 1;
  });
  candidates.offer_changed([](Case& c) {
    c.problem.v_is_k_view = false;
    becomes_literal(c);
  });
}

void strip_results(Candidates& candidates) {
  candidates.offer_changed([](Case& c) { c = forward_only(std::move(c)); });
  for (const auto part : {&Backward::dbias, &Backward::dsink, &Backward::dlse})
    candidates.offer_changed([&](Case& c) {
      if (!c.problem.backward) return;
      *c.problem.backward.*part = false;
      if (!c.problem.backward->dlse) c.dlse = {};
    });
  candidates.offer_changed([](Case& c) {
    if (c.problem.lse != LseForm::none) c.problem.lse = LseForm::natural;
  });
  candidates.offer_changed([](Case& c) { c.problem.empty_lse = Problem{}.empty_lse; });
  candidates.offer_changed([](Case& c) { c.problem.all_masked = AllMaskedPolicy::zero; });
}

void strip_terms(Candidates& candidates) {
  for (const auto without :
       {plain_scores, without_addends, without_sink, without_softcap, without_qv, without_descales})
    candidates.offer_changed([&](Case& c) {
      c = without(std::move(c));
      becomes_literal(c);
    });
  candidates.offer_changed([](Case& c) { c.problem.alibi.reset(); });
  candidates.offer_changed([](Case& c) {
    c.problem.bias.reset();
    c.bias = {};
    if (c.problem.backward) c.problem.backward->dbias = false;
    becomes_literal(c);
  });
  candidates.offer_changed([](Case& c) { c.problem.order = {}; });
  candidates.offer_changed([](Case& c) {
    if (c.problem.sink) c.problem.sink->in_lse = true;
  });
  candidates.offer_changed([](Case& c) {
    if (!c.problem.alibi) return;
    c.problem.alibi->form = Alibi::Form::absolute;
  });
}

}  // namespace

Index features_cost(const Problem& problem) {
  return storage_cost(problem) + types_cost(problem) + terms_cost(problem) + results_cost(problem) +
         flag(!problem.query_lengths.empty());
}

void strip_features(const Case& from, Candidates& candidates) {
  if (features_cost(from.problem) == 0) return;
  strip_storage(candidates);
  strip_results(candidates);
  strip_terms(candidates);
  candidates.offer_changed(widen);
  candidates.offer_changed([](Case& c) {
    c.problem.query_lengths.clear();
    becomes_literal(c);
  });
}

}  // namespace attest::properties
