#include "properties/spell_out.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace attest::properties {
namespace {

bool has_finite_additions(const Problem& problem) {
  if (!problem.mask.additive) return false;
  const std::vector<double>& value = problem.mask.additive->value;
  return std::any_of(value.begin(), value.end(),
                     [](double number) { return std::isfinite(number) && number != 0; });
}

MaskBits bits_of(const Problem& problem) {
  MaskBits bits{problem.seq_q, problem.seq_kv, {}};
  for (Index query = 0; query < problem.seq_q; ++query)
    for (Index key = 0; key < problem.seq_kv; ++key)
      bits.visible.push_back(visible(problem, 0, query, key));
  return bits;
}

/// Whether every addition that the problem has comes before softcap; mixed ones do not.
bool adds_before_softcap(const Problem& problem) {
  if (problem.softcap == 0) return false;
  const ScoreOrder& order = problem.order;
  return (!problem.bias || order.bias_before_softcap) &&
         (!problem.alibi || order.alibi_before_softcap) &&
         (!has_finite_additions(problem) || order.mask_before_softcap);
}

/// All that is added to the score of a visible pair, as one number of the compute dtype.
double addend(const Case& of, Index h, Index query, Index key) {
  const Problem& problem = of.problem;
  double sum = 0;
  if (problem.bias) {
    const Extents& extents = of.bias.extents();
    sum += of.bias.get(0, extents[1] == 1 ? 0 : h, extents[2] == 1 ? 0 : query, key);
  }
  if (problem.alibi) sum += alibi_term(problem, 0, h, query, key);
  if (problem.mask.additive) sum += problem.mask.additive->at(query, key);
  const double most = format_of(problem.compute_dtype()).max_finite;
  return std::clamp(sum, -most, most);
}

Tensor explicit_bias(const Case& of) {
  const Problem& problem = of.problem;
  return filled(problem.compute_dtype(), {1, problem.heads_q, problem.seq_q, problem.seq_kv},
                [&](Index, Index h, Index query, Index key) {
                  return visible(problem, 0, query, key) ? addend(of, h, query, key) : 0.0;
                });
}

}  // namespace

Case forward_only(Case from) {
  from.problem.backward.reset();
  from.dout = {};
  from.dlse = {};
  return from;
}

Case dense_rows_and_keys(Case from) {
  from.problem.layout = {};
  from.problem.kv = {};
  return from;
}

Case densely_stored(Case from) {
  from = dense_rows_and_keys(std::move(from));
  from.problem.v_is_k_view = false;
  return from;
}

bool shares_pages(const Problem& problem) {
  if (problem.kv.kind != KvStorage::Kind::paged) return false;
  std::set<Index> pages;
  for (const std::vector<Index>& table : problem.kv.page_table)
    for (const Index page : table)
      if (!pages.insert(page).second) return true;
  return false;
}

Case with_own_keys(Case from) {
  return shares_pages(from.problem) ? densely_stored(std::move(from)) : from;
}

Case plain_empty_rows(Case from) {
  if (from.problem.all_masked != AllMaskedPolicy::reject)
    from.problem.all_masked = AllMaskedPolicy::zero;
  return from;
}

Case without_softcap(Case from) {
  from.problem.softcap = 0;
  from.problem.order = {};
  return from;
}

Case without_sink(Case from) {
  from.problem.sink.reset();
  from.sink = {};
  if (from.problem.backward) from.problem.backward->dsink = false;
  return from;
}

Case without_descales(Case from) {
  from.problem.descales.reset();
  return from;
}

Case without_addends(Case from) {
  Problem& problem = from.problem;
  problem.bias.reset();
  from.bias = {};
  problem.alibi.reset();
  problem.order = {};
  if (problem.backward) problem.backward->dbias = false;
  if (problem.mask.additive)
    for (double& value : problem.mask.additive->value)
      if (std::isfinite(value)) value = 0;
  return from;
}

Case without_qv(Case from) {
  if (!from.problem.qv) return from;
  from.problem.scale = {false, scale_value(from.problem)};
  from.problem.qv = false;
  from.qv = {};
  return from;
}

Case plain_scores(Case from) {
  return without_qv(without_sink(without_softcap(without_addends(std::move(from)))));
}

Case exactly_spellable(Case from) {
  Problem& problem = from.problem;
  problem.alibi.reset();
  problem.order.alibi_before_softcap = false;
  if (!problem.bias || !has_finite_additions(problem)) return from;
  problem.bias.reset();
  from.bias = {};
  problem.order.bias_before_softcap = false;
  if (problem.backward) problem.backward->dbias = false;
  return from;
}

Case spelled_out(Case from) {
  const Problem& problem = from.problem;
  Case spelled = plain_empty_rows(densely_stored(forward_only(from)));
  const bool adds = problem.bias || problem.alibi || has_finite_additions(problem);
  spelled.bias = adds ? explicit_bias(from) : Tensor{};
  spelled.problem.bias = adds ? std::optional(Bias{false, true, true, std::nullopt}) : std::nullopt;
  spelled.problem.order = {};
  spelled.problem.order.bias_before_softcap = adds && adds_before_softcap(problem);
  spelled.problem.alibi.reset();
  spelled.problem.mask = {};
  if (!problem.mask.none() && problem.seq_q > 0) spelled.problem.mask.bits = bits_of(problem);
  becomes_literal(spelled);
  return spelled;
}

}  // namespace attest::properties
