// Mistakes about which head or batch member a row reads.
#include <algorithm>
#include <utility>

#include "properties/diagnosis_alternatives.hpp"

namespace attest::properties {
namespace {

/// Every query head gets a key/value head of its own: that of map(problem, head).
template <class Map>
bool with_head_map(Case& of, const Map& map) {
  Problem& problem = of.problem;
  if (problem.heads_kv < 2) return false;
  std::vector<Index> heads;
  bool differs = false;
  for (Index h = 0; h < problem.heads_q; ++h) {
    heads.push_back(std::clamp(map(problem, h), Index{0}, problem.heads_kv - 1));
    differs = differs || heads.back() != problem.kv_head(h);
  }
  if (!differs) return false;
  const auto head_of = [&](Index h) { return heads[static_cast<std::size_t>(h)]; };
  if (problem.descales)
    for (std::vector<double>* const factors :
         {&problem.descales->q, &problem.descales->k, &problem.descales->v}) {
      if (factors->size() == 1) continue;
      std::vector<double> expanded;
      for (Index b = 0; b < problem.batch; ++b)
        for (Index h = 0; h < problem.heads_q; ++h)
          expanded.push_back(
              (*factors)[static_cast<std::size_t>(b * problem.heads_kv + head_of(h))]);
      *factors = std::move(expanded);
    }
  problem.heads_kv = problem.heads_q;
  const auto expanded = [&](const Tensor& from, const Extents& extents) {
    return filled(from.dtype(), extents, [&](Index b, Index h, Index key, Index c) {
      return from.get(b, head_of(h), key, c);
    });
  };
  of.k = expanded(of.k, problem.k_extents());
  of.v = expanded(of.v, problem.v_extents());
  return true;
}

bool head_modulo(Case& of, Index) {
  return with_head_map(of, [](const Problem& p, Index h) { return h % p.heads_kv; });
}
bool head_zero(Case& of, Index) {
  return with_head_map(of, [](const Problem&, Index) { return Index{0}; });
}
bool groups_of_two(Case& of, Index) {
  return with_head_map(of, [](const Problem& p, Index h) {
    return p.heads_q / p.heads_kv < 3 ? p.kv_head(h) : h / 2;
  });
}
bool head_itself(Case& of, Index) {
  return with_head_map(of, [](const Problem&, Index h) { return h; });
}
bool next_head(Case& of, Index) {
  return with_head_map(of,
                       [](const Problem& p, Index h) { return (p.kv_head(h) + 1) % p.heads_kv; });
}
bool head_before(Case& of, Index) {
  return with_head_map(
      of, [](const Problem& p, Index h) { return (p.kv_head(h) + p.heads_kv - 1) % p.heads_kv; });
}

/// k or v of `from` instead of those of `b`; rows that `from` does not have are NaN, about which
/// nothing is said.
bool read_other_member(Case& of, Index b, Index from, bool k, bool v) {
  Problem& problem = of.problem;
  if (problem.batch < 2 || from == b || problem.v_is_k_view) return false;
  const auto moved = [&](Tensor& tensor) {
    const Tensor before = tensor;
    const double missing = poison(tensor.dtype());
    const Extents& extents = tensor.extents();
    for (Index h = 0; h < extents[1]; ++h)
      for (Index key = 0; key < extents[2]; ++key)
        for (Index c = 0; c < extents[3]; ++c)
          tensor.set(b, h, key, c,
                     key < problem.key_length(from) ? before.get(from, h, key, c) : missing);
  };
  if (k) moved(of.k);
  if (v) moved(of.v);
  return true;
}
bool keys_of_last_member(Case& of, Index b) {
  return read_other_member(of, b, of.problem.batch - 1, true, false);
}
bool keys_of_first_member(Case& of, Index b) {
  return read_other_member(of, b, 0, true, false);
}
bool all_of_last_member(Case& of, Index b) {
  return read_other_member(of, b, of.problem.batch - 1, true, true);
}
bool all_of_first_member(Case& of, Index b) {
  return read_other_member(of, b, 0, true, true);
}

}  // namespace

void append_head_alternatives(Alternatives& to) {
  to.push_back(other_problem("kv head = h mod heads_kv",
                             "query head h reads key/value head h mod heads_kv", {head_modulo}));
  to.push_back(
      other_problem("kv head = 0", "every query head reads the first key/value head", {head_zero}));
  to.push_back(other_problem("groups of two heads",
                             "query head h reads key/value head h / 2, though groups are larger",
                             {groups_of_two}));
  to.push_back(other_problem("kv head = h", "query head h reads key/value head h", {head_itself}));
  to.push_back(other_problem("kv head shifted by one", "query heads read a neighbour's keys",
                             {next_head, head_before}));
  to.push_back(other_problem("keys of another batch member",
                             "all batch members read the keys of one of them",
                             {keys_of_last_member, keys_of_first_member}));
  to.push_back(other_problem("keys and values of another batch member",
                             "all batch members read the keys and values of one of them",
                             {all_of_last_member, all_of_first_member}));
}

}  // namespace attest::properties
