#include "properties/fp4_world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "properties/every_tiling.hpp"
#include "properties/run_kernel.hpp"
#include "reference/oracle.hpp"

namespace attest::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Columns that are looked at together; divides every number of columns.
constexpr Index kBlock = 16;

Problem one_row(Index keys, Index columns) {
  Problem problem;
  problem.seq_kv = keys;
  problem.head_dim_v = columns;
  problem.lse = LseForm::natural;
  return problem;
}

/// o_c = sum_j p_j v_jc from enclosures of the p_j, for columns of at most three keys.
///
/// Let |p_j - h_j| <= e_j with a double h_j (e_j = |low| + radius). In double, every term h_j v_jc
/// passes one rounding of its product and at most two of the sum (the first addition is to 0 and
/// exact), each a factor within 1 +- u, u = 2^-53; products and sums do not underflow, for h_j is 0
/// or above 2^-1000 and |v_jc| is 0 or at least 1/2. Hence
///   |computed - o_c| <= sum_j (e_j + ((1 + u)^3 - 1) h_j) |v_jc| <= sum_j a_j |v_jc|
/// with a_j = e_j + 2^-51 h_j, because (1 + u)^3 - 1 < 4u. The a_j and their sum are formed in
/// double as well: up to eight roundings, covered by the factor 1 + 2^-49.
std::vector<Enclosure> weighted_values(const std::vector<Enclosure>& probability,
                                       const std::vector<double>& value, std::size_t columns) {
  std::vector<double> sum(columns, 0.0);
  std::vector<double> radius(columns, 0.0);
  for (std::size_t j = 0; j < probability.size(); ++j) {
    const Enclosure& p = probability[j];
    const double uncertain = std::abs(p.low) + p.radius + 0x1p-51 * p.high;
    for (std::size_t c = 0; c < columns; ++c) {
      sum[c] += p.high * value[j * columns + c];
      radius[c] += uncertain * std::abs(value[j * columns + c]);
    }
  }
  std::vector<Enclosure> outputs(columns);
  for (std::size_t c = 0; c < columns; ++c) outputs[c] = {sum[c], 0, radius[c] * (1 + 0x1p-49)};
  return outputs;
}

/// Outputs that the bound would let be anything of the size of the values.
Index count_uninformative(const RowFacts& facts, const RowBound& bound) {
  Index count = 0;
  for (std::size_t c = 0; c < bound.output.size(); ++c) {
    const double magnitude = value_magnitude(facts, c);
    if (magnitude > 0 && !(bound.output[c] < magnitude)) ++count;
  }
  return count;
}

}  // namespace

Fp4World::Fp4World(Index keys) : keys_(keys), columns_(Index{1} << (4 * keys)) {
  // A score is a product of two codes and exact; adding 0 makes one zero of both.
  std::map<std::vector<double>, std::size_t> open_group;
  for (Index pair = 0; pair < pairs(); ++pair) {
    std::vector<double> scores;
    for (Index j = 0; j < keys_; ++j) scores.push_back(query(pair) * key(pair, j) + 0.0);
    std::size_t& group = open_group.try_emplace(std::move(scores), groups_.size()).first->second;
    if (group < groups_.size() && groups_[group].size() == kMostPairs) group = groups_.size();
    if (group == groups_.size()) groups_.emplace_back();
    groups_[group].push_back(pair);
  }
}

Case Fp4World::wide_case(Index pair) const {
  Case made;
  made.problem = one_row(keys_, columns_);
  becomes_literal(made);
  made.q = Tensor(Dtype::f32, made.problem.q_extents());
  made.k = Tensor(Dtype::f32, made.problem.k_extents());
  made.v = filled(Dtype::f32, made.problem.v_extents(),
                  [&](Index, Index, Index j, Index column) { return value(column, j); });
  set_pair(made, pair);
  return made;
}

Case Fp4World::single_case(Index pair, Index column, const Tiling& tiling) const {
  Case made;
  made.problem = one_row(keys_, 1);
  made.tiling = tiling;
  becomes_literal(made);
  made.q = Tensor(Dtype::f32, made.problem.q_extents());
  made.k = Tensor(Dtype::f32, made.problem.k_extents());
  made.v = filled(Dtype::f32, made.problem.v_extents(),
                  [&](Index, Index, Index j, Index) { return value(column, j); });
  set_pair(made, pair);
  return made;
}

void Fp4World::set_pair(Case& wide, Index pair) const {
  wide.q.set(0, 0, 0, 0, query(pair));
  for (Index j = 0; j < keys_; ++j) wide.k.set(0, 0, j, 0, key(pair, j));
}

std::optional<RowFacts> Fp4World::exact_row(Index pair) const {
  // With the identity for v the outputs are the probabilities.
  Case weights;
  weights.problem = one_row(keys_, keys_);
  weights.q = Tensor(Dtype::f32, weights.problem.q_extents());
  weights.k = Tensor(Dtype::f32, weights.problem.k_extents());
  weights.v = filled(Dtype::f32, weights.problem.v_extents(),
                     [](Index, Index, Index j, Index c) { return j == c ? 1.0 : 0.0; });
  set_pair(weights, pair);
  const Case& of = weights;
  const reference::Inputs inputs{&of.problem, of.q.ref(), of.k.ref(), of.v.ref()};
  auto facts = reference::enclose_row(inputs, {0, 0, 0}, reference::kPrecisionLadder.front());
  if (!facts) return std::nullopt;
  const auto columns = static_cast<std::size_t>(columns_);
  facts->value.resize(static_cast<std::size_t>(keys_) * columns);
  for (Index j = 0; j < keys_; ++j)
    for (Index c = 0; c < columns_; ++c)
      facts->value[static_cast<std::size_t>(j * columns_ + c)] = value(c, j);
  facts->output = weighted_values(facts->output, facts->value, columns);
  return facts;
}

void WorldTally::append(const WorldTally& later) {
  outputs += later.outputs;
  lse_values += later.lse_values;
  violations += later.violations;
  undecided += later.undecided;
  uninformative += later.uninformative;
  const auto keep_larger = [](std::optional<WorldElement>& kept,
                              const std::optional<WorldElement>& next) {
    if (next && (!kept || next->ratio > kept->ratio)) kept = next;
  };
  keep_larger(worst_out, later.worst_out);
  keep_larger(worst_lse, later.worst_lse);
  if (!first_violation) first_violation = later.first_violation;
  if (failure.empty()) failure = later.failure;
}

WorldJudge::WorldJudge(const Fp4World& world, const Kernel& kernel, std::span<const Tiling> tilings)
    : world_(world),
      kernel_(kernel),
      tilings_(tilings),
      wide_(world.wide_case(0)),
      accuracy_(kernel.accuracy(wide_.problem)) {
  for (const Tiling& tiling : tilings) {
    const Tiling cut = without_empty_splits(tiling, scope_of_tree(accuracy_), world.keys());
    const auto known = std::find(cuts_.begin(), cuts_.end(), cut);
    limit_of_.push_back(static_cast<std::size_t>(known - cuts_.begin()));
    if (known == cuts_.end()) cuts_.push_back(cut);
  }
}

WorldTally WorldJudge::judge(Index group) {
  WorldTally tally;
  const std::vector<Index>& pairs = world_.pairs_of(group);
  const std::optional<RowFacts> facts = world_.exact_row(pairs.front());
  if (!facts) {
    tally.failure = "the oracle refuses a row";
    return tally;
  }
  limits_.clear();
  want_.clear();
  radius_.clear();
  for (const Enclosure& output : facts->output) {  // low is 0
    want_.push_back(output.high);
    radius_.push_back(output.radius);
  }
  for (const Tiling& cut : cuts_) {
    Limit limit{error_bound(accuracy_, *facts, cut, world_.keys()), 0};
    limit.uninformative = count_uninformative(*facts, limit.bound);
    limits_.push_back(std::move(limit));
  }
  for (const Index pair : pairs) {
    world_.set_pair(wide_, pair);
    for (std::size_t tiling = 0; tiling < tilings_.size(); ++tiling) {
      wide_.tiling = tilings_[tiling];
      const Outputs outputs = run_in_place(kernel_, wide_);
      if (const auto verdict = stopped(outputs, wide_)) {
        tally.failure = verdict->reason;
        return tally;
      }
      judge_call(tally, *facts, limits_[limit_of_[tiling]], outputs,
                 {Part::out, pair, 0, tiling, 0, {}});
    }
  }
  return tally;
}

/// Whether no element of a block breaks its bound or is worse than the worst: the rule of
/// Enclosure::distance_upper as a loop that the compiler makes vectors of.
bool WorldJudge::nothing_new(const float* out, const Limit& limit, Index block,
                             const std::optional<WorldElement>& worst) const {
  if (!worst) return false;
  const double share = std::min(1.0, worst->ratio);
  const double* const bound = limit.bound.output.data();
  int beyond = 0;
  for (Index c = block; c < block + kBlock; ++c) {
    const auto at = static_cast<std::size_t>(c);
    const double error = std::abs(static_cast<double>(out[c]) - want_[at]) * (1 + 0x1p-50) +
                         radius_[at] + std::numeric_limits<double>::denorm_min();
    beyond += error <= share * bound[at] ? 0 : 1;  // NaN is beyond
  }
  return beyond == 0;
}

void WorldJudge::judge_call(WorldTally& tally, const RowFacts& facts, const Limit& limit,
                            const Outputs& outputs, const WorldElement& place) const {
  const auto columns = static_cast<Index>(facts.output.size());
  tally.outputs += columns;
  ++tally.lse_values;
  tally.uninformative += limit.uninformative;
  if (!limit.bound.proven()) {
    tally.undecided += columns + 1;
    return;
  }
  const auto judge_element = [&](const Enclosure& want, double got, double bound,
                                 std::optional<WorldElement>& worst, Part part, Index column) {
    double error = want.distance_upper(got);
    if (error <= bound && (worst && error <= worst->ratio * bound)) return;  // nothing new
    if (std::isnan(error)) error = kInfinity;
    const bool violated = error > bound && !(want.distance_lower(got) <= bound);
    if (error > bound && !violated) {
      ++tally.undecided;
      return;
    }
    if (violated) ++tally.violations;
    const double ratio = error == 0 ? 0 : error / bound;
    const bool first = violated && !tally.first_violation;
    const bool larger = !worst || ratio > worst->ratio;
    if (!first && !larger) return;
    WorldElement found = place;
    found.part = part;
    found.column = column;
    found.ratio = ratio;
    found.witness = {part == Part::out ? "out" : "lse", {0, 0, 0}, 0, got, want, error, bound};
    if (first) tally.first_violation = found;
    if (larger) worst = std::move(found);
  };
  const float* const out = &outputs.out.ref().as<const float>()(0, 0, 0, 0);
  for (Index block = 0; block < columns; block += kBlock) {
    if (nothing_new(out, limit, block, tally.worst_out)) continue;
    for (Index c = block; c < block + kBlock; ++c)
      judge_element(facts.output[static_cast<std::size_t>(c)], static_cast<double>(out[c]),
                    limit.bound.output[static_cast<std::size_t>(c)], tally.worst_out, Part::out, c);
  }
  judge_element(facts.lse, outputs.lse.get(0, 0, 0, 0), limit.bound.lse, tally.worst_lse, Part::lse,
                0);
}

}  // namespace attest::properties
