#include "order_aware.hpp"

#include <cmath>
#include <utility>

namespace attest {
namespace {

/// The part of a numerator that has been added up, per column.
struct PartialSums {
  std::vector<double> exact;      ///< sum p_j v_jc, signed
  std::vector<double> magnitude;  ///< sum p_j |v_jc|
  std::vector<double> moved;      ///< sum p_j W_j |v_jc|: how far the exact sum may be shifted
  std::vector<double> error;      ///< of the computed sum against the shifted one
  std::vector<double> squares;    ///< of the partial sums and products that were rounded

  explicit PartialSums(std::size_t columns)
      : exact(columns), magnitude(columns), moved(columns), error(columns), squares(columns) {}
};

enum class Want { error, squares };

class Accumulation {
 public:
  Accumulation(const DeclaredAccuracy& accuracy, const RowFacts& facts, const RowTerms& terms,
               Want want)
      : facts_(facts),
        terms_(terms),
        want_(want),
        u_(accuracy.format.unit_roundoff),
        // p_j is an upper bound with relative slack below 2^-40, and the sums are formed in double.
        reading_(0x1p-39 + static_cast<double>(facts.keys.size()) * 0x1p-51) {
    const bool rounds_alone = accuracy.weight_cast && !accuracy.weight_cast->sum_of_rounded;
    product_error_ = std::expm1(
        u_ + (rounds_alone ? std::log1p(accuracy.weight_cast->format.unit_roundoff) : 0) +
        log_domain(accuracy.value_relative_error));
  }

  /// sums <- fl(sums + fl(P_j v_j)).
  void add_key(PartialSums& sums, std::size_t j) const {
    const std::size_t columns = sums.exact.size();
    const double* const value = &facts_.value[j * columns];
    const double p = facts_.probability[j];
    const double moved = p * terms_.w[j] + kSmallestNumber;
    const double product = p * (1 + terms_.w[j]) * product_error_ + kSmallestNumber;
    for (std::size_t c = 0; c < columns; ++c) {
      const double size = std::abs(value[c]);
      sums.exact[c] += p * value[c];
      sums.magnitude[c] += p * size;
      sums.moved[c] += moved * size;
      sums.error[c] += product * size;
    }
    if (want_ == Want::squares)
      for (std::size_t c = 0; c < columns; ++c) sums.squares[c] += p * value[c] * p * value[c];
    round(sums);
  }

  /// One rounding of the whole partial sum: of an addition, or of a rescale.
  void round(PartialSums& sums) const {
    if (want_ == Want::squares) {
      for (std::size_t c = 0; c < sums.exact.size(); ++c)
        sums.squares[c] += sums.exact[c] * sums.exact[c];
      return;
    }
    for (std::size_t c = 0; c < sums.exact.size(); ++c)
      sums.error[c] += u_ * (sums.error[c] + std::abs(sums.exact[c]) +
                             reading_ * sums.magnitude[c] + sums.moved[c]);
  }

  void merge(PartialSums& into, const PartialSums& from) const {
    for (std::size_t c = 0; c < into.exact.size(); ++c) {
      into.exact[c] += from.exact[c];
      into.magnitude[c] += from.magnitude[c];
      into.moved[c] += from.moved[c];
      into.error[c] += from.error[c];
      into.squares[c] += from.squares[c];
    }
    round(into);
  }

 private:
  const RowFacts& facts_;
  const RowTerms& terms_;
  Want want_;
  double u_;
  double reading_;
  double product_error_ = 0;
};

PartialSums sum_unit(const Accumulation& accumulation, const UnitOrder& unit,
                     const RowFacts& facts) {
  PartialSums sums(facts.output.size());
  auto next_raise = unit.raised_at.begin();
  for (std::size_t j = unit.first; j < unit.last; ++j) {
    if (next_raise != unit.raised_at.end() && *next_raise == j) {
      accumulation.round(sums);
      ++next_raise;
    }
    accumulation.add_key(sums, j);
  }
  if (facts.has_sink()) accumulation.round(sums);
  return sums;
}

PartialSums sum_row(const Accumulation& accumulation, const RowFacts& facts,
                    const EvaluationOrder& order) {
  std::vector<PartialSums> stack;
  for (const MergeNode& node : order.nodes) {
    if (node.is_leaf()) {
      stack.push_back(
          sum_unit(accumulation, order.units[static_cast<std::size_t>(node.unit)], facts));
      continue;
    }
    PartialSums right = std::move(stack.back());
    stack.pop_back();
    PartialSums& left = stack.back();
    const MaxRange& left_max = order.nodes[node.left].max;
    const MaxRange& right_max = order.nodes[node.right].max;
    if (left_max.empty()) {
      left = std::move(right);
    } else if (!right_max.empty()) {
      if (left_max.may_rise_to(right_max, order.lag)) accumulation.round(left);
      if (right_max.may_rise_to(left_max, order.lag)) accumulation.round(right);
      accumulation.merge(left, right);
    }
  }
  return std::move(stack.back());
}

}  // namespace

std::vector<double> order_aware_sums(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                                     const RowTerms& terms, const EvaluationOrder& order) {
  std::vector<double> errors =
      sum_row(Accumulation(accuracy, facts, terms, Want::error), facts, order).error;
  // Products of subnormal values underflow in the sums above.
  const double lost = static_cast<double>(facts.keys.size()) * 8 * kSmallestNumber;
  for (double& error : errors) error = error * (1 + 0x1p-31) + lost;
  return errors;
}

std::vector<double> squares_of_rounded_sums(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                                            const RowTerms& terms, const EvaluationOrder& order) {
  return sum_row(Accumulation(accuracy, facts, terms, Want::squares), facts, order).squares;
}

}  // namespace attest
