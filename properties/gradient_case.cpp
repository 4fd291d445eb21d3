#include "properties/gradient_case.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "attest/random.hpp"
#include "properties/derive.hpp"
#include "properties/probe.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

/// Numbers of about size 1 with few bits, exact in every type.
double small_number(SplitMix64& random) {
  return static_cast<double>(static_cast<Index>(random.below(65)) - 32) / 16;
}

Tensor drawn_tensor(Dtype dtype, const Extents& extents, std::uint64_t seed) {
  SplitMix64 random(seed ^ 0x6AAD'1E47'5EED'0001U);
  return filled(dtype, extents, [&](Index, Index, Index, Index) { return small_number(random); });
}

/// fp8 numbers as numbers of a type that has gradients.
void widen_inputs(const Kernel& kernel, Case& on) {
  Problem& problem = on.problem;
  const std::vector<Dtype>& dtypes = kernel.description().capabilities.dtypes;
  const bool has_bf16 = std::find(dtypes.begin(), dtypes.end(), Dtype::bf16) != dtypes.end();
  const auto widened = [&](Dtype dtype) {
    if (!is_fp8(dtype)) return dtype;
    return has_bf16 ? Dtype::bf16 : Dtype::f32;
  };
  const Dtype k_dtype = widened(problem.k_dtype());
  const Dtype v_dtype = widened(problem.v_dtype());
  const Dtype out_dtype = problem.out_dtype();
  problem.dtype = widened(problem.dtype);
  problem.k_storage = k_dtype;
  problem.v_storage = v_dtype;
  if (problem.out_storage) problem.out_storage = out_dtype;
  for (const auto& [tensor, dtype] : {std::pair{&Case::q, problem.dtype},
                                      std::pair{&Case::k, k_dtype}, std::pair{&Case::v, v_dtype}}) {
    const Tensor from = on.*tensor;
    if (from.dtype() == dtype) continue;
    on.*tensor = filled(dtype, from.extents(), [&](Index b, Index h, Index row, Index column) {
      return from.get(b, h, row, column);
    });
  }
  // dout has the type of out.
  if (on.dout.extents() != Extents{} && on.dout.dtype() != problem.out_dtype()) {
    const Tensor from = on.dout;
    on.dout = filled(problem.out_dtype(), from.extents(),
                     [&](Index b, Index h, Index row, Index c) { return from.get(b, h, row, c); });
  }
}

void add_backward(const Kernel& kernel, Case& on) {
  Problem& problem = on.problem;
  const std::uint64_t seed = seed_of(on);
  Backward backward;
  backward.dbias = problem.bias && offers(kernel, Feature::dbias);
  backward.dsink = problem.sink && !problem.sink->zero && offers(kernel, Feature::dsink);
  backward.dlse = offers(kernel, Feature::dlse) && seed % 2 == 0;
  problem.backward = backward;
  on.dout = drawn_tensor(problem.out_dtype(), problem.out_extents(), seed);
  if (backward.dlse)
    on.dlse = drawn_tensor(problem.compute_dtype(), problem.dlse_extents(), seed + 1);
}

/// The heads of a tensor at other places; nothing where it has one for all.
Tensor with_heads_from(const Tensor& from, Index heads, Index (*head)(Index, Index), Index factor) {
  Extents extents = from.extents();
  if (extents == Extents{}) return from;
  extents[1] = heads;
  return filled(from.dtype(), extents, [&](Index b, Index h, Index row, Index column) {
    return from.get(b, head(h, factor), row, column);
  });
}

Index divided(Index head, Index by) {
  return head / by;
}

}  // namespace

bool offers(const Kernel& kernel, Feature feature) {
  return kernel.description().capabilities.has(feature);
}

std::optional<Verdict> lacks_gradients(const Kernel& kernel,
                                       std::initializer_list<Feature> beside) {
  const auto lacks = [&](Feature feature) -> std::optional<Verdict> {
    if (offers(kernel, feature)) return std::nullopt;
    return Verdict::skipped("kernel does not declare " + std::string(to_string(feature)));
  };
  if (auto verdict = lacks(Feature::backward)) return verdict;
  for (const Feature feature : beside)
    if (auto verdict = lacks(feature)) return verdict;
  return std::nullopt;
}

Case backward_case(const Kernel& kernel, const Case& given) {
  Case on = without_qv(without_descales(with_own_keys(given)));
  Problem& problem = on.problem;
  widen_inputs(kernel, on);
  problem.all_masked = AllMaskedPolicy::zero;
  problem.empty_lse = -std::numeric_limits<double>::infinity();
  problem.lse = LseForm::natural;
  if (problem.sink) problem.sink->in_lse = true;
  if (!problem.backward) add_backward(kernel, on);
  becomes_literal(on);
  return on;
}

Case with_bias_gradient(Case from) {
  Problem& problem = from.problem;
  if (!problem.bias) {
    const std::uint64_t seed = seed_of(from);
    problem.bias = Bias{seed % 2 == 1, seed % 3 == 1, seed % 5 < 3, std::nullopt};
    problem.order.bias_before_softcap = false;
    from.bias = drawn_tensor(problem.bias_dtype(), problem.bias_extents(), seed + 2);
  }
  problem.backward->dbias = true;
  return from;
}

Case with_score_gradients(Case from) {
  Problem& problem = from.problem;
  const Tensor given = from.bias;
  problem.bias =
      Bias{true, true, true, problem.bias ? problem.bias->dtype : std::optional<Dtype>{}};
  problem.order.bias_before_softcap = false;
  problem.backward->dbias = true;
  if (given.extents() == Extents{}) {
    from.bias = drawn_tensor(problem.bias_dtype(), problem.bias_extents(), seed_of(from) + 2);
    return from;
  }
  const Extents& has = given.extents();
  from.bias = filled(
      problem.bias_dtype(), problem.bias_extents(), [&](Index b, Index h, Index query, Index key) {
        return given.get(has[0] == 1 ? 0 : b, has[1] == 1 ? 0 : h, has[2] == 1 ? 0 : query, key);
      });
  return from;
}

Case with_sink_gradient(Case from) {
  Problem& problem = from.problem;
  if (!problem.sink || problem.sink->zero) {
    problem.sink = Sink{};
    from.sink = drawn_tensor(problem.compute_dtype(), problem.sink_extents(), seed_of(from) + 3);
  }
  problem.backward->dsink = true;
  return from;
}

Case without_lse_gradient(Case from) {
  from.problem.backward->dlse = false;
  from.dlse = {};
  return from;
}

Case with_grouped_heads(Case from) {
  Problem& problem = from.problem;
  if (problem.heads_q > problem.heads_kv) return from;
  const Index heads = 2 * problem.heads_q;
  if (problem.alibi) {
    std::vector<double> slopes;
    for (Index h = 0; h < heads; ++h) slopes.push_back(alibi_slope(problem, h / 2));
    problem.alibi->slopes = std::move(slopes);
  }
  const Tensor q = from.q;
  for (const auto tensor : {&Case::q, &Case::dout, &Case::dlse, &Case::sink})
    from.*tensor = with_heads_from(from.*tensor, heads, divided, 2);
  if (problem.bias && problem.bias->per_head)
    from.bias = with_heads_from(from.bias, heads, divided, 2);
  from.q = filled(q.dtype(), from.q.extents(), [&](Index b, Index h, Index row, Index column) {
    const double number = q.get(b, h / 2, row, column);
    return h % 2 == 0 ? number : -number;
  });
  problem.heads_q = heads;
  return from;
}

Case with_repeated_heads(Case from) {
  Problem& problem = from.problem;
  const Index group = problem.heads_q / problem.heads_kv;
  for (const auto tensor : {&Case::k, &Case::v})
    from.*tensor = with_heads_from(from.*tensor, problem.heads_q, divided, group);
  problem.heads_kv = problem.heads_q;
  return from;
}

Case with_shared_pages(const Case& from, Index page_size) {
  const Case member = single_member(densely_stored(from), 0);
  Case both = member;
  Problem& problem = both.problem;
  problem.batch = 2;
  for (const CaseTensor& of : case_tensors()) {
    const Tensor& tensor = member.*of.tensor;
    const Extents extents = of.extents(problem);
    if (extents == tensor.extents()) continue;  // it has no members
    const double sign_of_twin = of.tensor == &Case::q ? -1 : 1;
    both.*of.tensor =
        filled(tensor.dtype(), extents, [&](Index b, Index h, Index row, Index column) {
          return (b == 0 ? 1 : sign_of_twin) * tensor.get(0, h, row, column);
        });
  }
  problem.kv = shuffled_pages(member.problem, page_size, seed_of(from));
  problem.kv.page_table.push_back(problem.kv.page_table.front());
  return both;
}

}  // namespace attest::properties
