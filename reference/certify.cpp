#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "reference/finite.hpp"
#include "reference/oracle.hpp"
#include "reference/oracle_fast.hpp"

namespace attest::reference {
namespace {

thread_local bool both_oracles = false;

struct Counters {
  std::atomic<std::int64_t> by_double_double{0};
  std::atomic<std::int64_t> by_mpfr{0};
  std::atomic<std::int64_t> audited{0};
  std::atomic<std::int64_t> contradictions{0};
};

Counters& counters() {
  static Counters instance;
  return instance;
}

bool all_narrow(const CertifiedRow& row) {
  if (!row.bound.proven()) return true;  // no precision helps
  for (std::size_t c = 0; c < row.facts.output.size(); ++c)
    if (!is_narrow(row.facts.output[c], row.bound.output[c])) return false;
  return is_narrow(row.facts.lse, row.bound.lse);
}

/// Bound and width of a row whose facts are there.
void judge_width(CertifiedRow& row, const BoundRule& rule) {
  if (row.facts.visible_keys() == 0) {
    row.bound.output.assign(row.facts.output.size(), 0.0);
    row.narrow = true;
    return;
  }
  row.bound = rule(row.facts);
  row.narrow = all_narrow(row);
}

/// A hash of the row's numbers, SplitMix64 after each: the choice of audited rows repeats with the
/// case. A sink is one of the scores.
bool is_audited(const RowFacts& facts) {
  std::uint64_t hash = 0;
  const auto mix = [&](double number) {
    hash += std::bit_cast<std::uint64_t>(number) + 0x9E3779B97F4A7C15U;
    hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9U;
    hash = (hash ^ (hash >> 27U)) * 0x94D049BB133111EBU;
    hash ^= hash >> 31U;
  };
  const auto mix_all = [&](const std::vector<double>& numbers) {
    std::for_each(numbers.begin(), numbers.end(), mix);
  };
  mix_all(facts.score);
  mix_all(facts.score_magnitude);
  mix_all(facts.value);
  for (const ScoreAddend& addend : facts.addends) mix_all(addend.value);
  for (const double number :
       {facts.scale, facts.softcap, facts.dot_magnitude_max, facts.input_magnitude_max})
    mix(number);
  return hash % kAuditedRows == 0;
}

/// Radii of exact values add up; the difference of two numbers near each other is exact.
bool overlap(const Enclosure& left, const Enclosure& right) {
  if (left.high == right.high && left.low == right.low) return true;
  const double apart = std::abs((left.high - right.high) + (left.low - right.low));
  return apart * (1 - 0x1p-50) <=
         (left.radius + right.radius) * (1 + 0x1p-50) + std::numeric_limits<double>::denorm_min();
}

/// Two upper bounds of one number, each with a relative slack below 2^-40.
bool near(double left, double right) {
  return std::abs(left - right) <= std::max(std::abs(left), std::abs(right)) * 0x1p-38 + 0x1p-900;
}

/// How far score_max may be from the exact score of the key that it is the score of.
double max_radius(const RowFacts& facts) {
  double radius = 0;
  for (std::size_t j = 0; j < facts.keys.size(); ++j)
    if (facts.score[j] == facts.score_max) radius = std::max(radius, facts.score_radius[j]);
  return radius;
}

/// Maxima that scores within their radii can have, and sums that are the same seen from one of
/// them.
bool consistent_sums(const RowFacts& left, const RowFacts& right) {
  const double apart = left.score_max - right.score_max;
  const double radii = (max_radius(left) + max_radius(right)) * (1 + 0x1p-50);
  const double left_sum = left.log_sum + std::max(apart, 0.0);
  const double right_sum = right.log_sum + std::max(-apart, 0.0);
  return std::abs(apart) <= radii &&
         (std::abs(left_sum - right_sum) <= radii || near(left_sum + 1, right_sum + 1));
}

/// What is known of the inputs: upper bounds with a relative slack below 2^-40, or exact.
bool consistent_inputs(const RowFacts& left, const RowFacts& right) {
  for (std::size_t j = 0; j < left.keys.size(); ++j)
    if (!near(left.score_magnitude[j], right.score_magnitude[j])) return false;
  return near(left.dot_magnitude_max, right.dot_magnitude_max) &&
         near(left.input_magnitude_max, right.input_magnitude_max) && left.scale == right.scale &&
         left.softcap == right.softcap && left.head_dim == right.head_dim &&
         left.value == right.value && left.addends == right.addends;
}

std::optional<CertifiedRow> certify_fast(const Row& row, const BoundRule& rule) {
  std::optional<RowFacts> facts = enclose_row_fast(row);
  if (!facts) return std::nullopt;
  CertifiedRow certified;
  certified.facts = std::move(*facts);
  certified.arithmetic = Arithmetic::double_double;
  certified.bits = kDoubleDoubleBits;
  judge_width(certified, rule);
  if (!certified.narrow) return std::nullopt;
  return certified;
}

std::optional<CertifiedRow> certify_by_mpfr(const Row& row, const BoundRule& rule) {
  CertifiedRow certified;
  for (const int bits : kPrecisionLadder) {
    // Scores that cancel may leave an exp without an end at a low precision.
    std::optional<RowFacts> facts = enclose_row(row, bits);
    if (!facts) continue;
    certified.bits = bits;
    certified.facts = std::move(*facts);
    judge_width(certified, rule);
    if (certified.narrow) break;
  }
  if (certified.bits == 0) return std::nullopt;
  return certified;
}

std::optional<CertifiedRow> certify_numbers(const Row& row, const BoundRule& rule) {
  std::optional<CertifiedRow> fast = certify_fast(row, rule);
  if (fast && !both_oracles && !is_audited(fast->facts)) {
    ++counters().by_double_double;
    return fast;
  }
  std::optional<CertifiedRow> exact = certify_by_mpfr(row, rule);
  if (!fast) {
    ++counters().by_mpfr;
    return exact;
  }
  ++counters().audited;
  if (exact && consistent(fast->facts, exact->facts)) return exact;
  ++counters().contradictions;
  fast->contradiction = true;
  fast->bound.unproven = "the two oracles contradict each other: a defect of attest";
  return fast;
}

/// The row without its sink decides the lse that does not count it.
bool drop_sink(Row row, const BoundRule& rule, CertifiedRow& certified) {
  row.sink.reset();
  const std::optional<CertifiedRow> bare = certify_row(row, rule);
  if (!bare) return false;
  certified.asked_lse = bare->facts.lse;
  certified.asked_lse_bound = bare->bound.lse;
  certified.narrow = certified.narrow && bare->narrow;
  certified.contradiction = certified.contradiction || bare->contradiction;
  if (certified.bound.proven()) certified.bound.unproven = bare->bound.unproven;
  certified.bound.lse_base_two = bare->bound.lse_base_two;
  return true;
}

/// Brings the natural lse of a row into the form that the problem asks for; false when that has no
/// enclosure.
bool ask_lse(const Problem& problem, const Row& row, const BoundRule& rule,
             CertifiedRow& certified) {
  certified.asked_lse.reset();
  certified.asked_lse_bound = 0;
  if (problem.lse == LseForm::none) return true;
  if (row.empty()) {
    if (problem.empty_lse) certified.asked_lse = Enclosure{*problem.empty_lse, 0, 0};
    return true;
  }
  if (row.keys.empty() && problem.sink->in_lse) {  // exact, but a kernel computes with the sink
    const RowBound bound = rule(certified.facts);
    certified.bound.lse = bound.lse;
    certified.bound.lse_base_two = bound.lse_base_two;
    if (certified.bound.proven()) certified.bound.unproven = bound.unproven;
  }
  certified.asked_lse = certified.facts.lse;
  certified.asked_lse_bound = certified.bound.lse;
  if (row.sink && !problem.sink->in_lse && !drop_sink(row, rule, certified)) return false;
  if (problem.lse != LseForm::base_two || std::isinf(certified.asked_lse->high)) return true;
  certified.asked_lse = in_base_two(*certified.asked_lse);
  certified.asked_lse_bound = certified.bound.lse_base_two;
  return true;
}

}  // namespace

std::optional<CertifiedRow> certify_row(const Inputs& inputs, const RowIndex& index,
                                        const BoundRule& rule) {
  const std::optional<Row> row = read_row(inputs, index);
  if (!row) return std::nullopt;
  std::optional<CertifiedRow> certified;
  if (row->empty() && inputs.problem->all_masked == AllMaskedPolicy::mean) {
    const std::optional<Row> mean = read_mean_row(inputs, index);
    if (mean) certified = certify_row(*mean, rule);
  } else {
    certified = certify_row(*row, rule);
  }
  if (!certified || !ask_lse(*inputs.problem, *row, rule, *certified)) return std::nullopt;
  return certified;
}

std::optional<CertifiedRow> certify_row(const Row& row, const BoundRule& rule) {
  std::optional<CertifiedRow> certified = certify_numbers(row, rule);
  if (!certified) return std::nullopt;
  certified->asked_lse = certified->facts.lse;
  certified->asked_lse_bound = certified->bound.lse;
  return certified;
}

bool consistent(const RowFacts& left, const RowFacts& right) {
  if (left.keys != right.keys || left.output.size() != right.output.size()) return false;
  for (std::size_t j = 0; j < left.keys.size(); ++j) {
    const double apart = std::abs(left.score[j] - right.score[j]);
    if (!(apart <= (left.score_radius[j] + right.score_radius[j]) * (1 + 0x1p-50))) return false;
    if (!near(left.probability[j], right.probability[j])) return false;
  }
  for (std::size_t c = 0; c < left.output.size(); ++c)
    if (!overlap(left.output[c], right.output[c])) return false;
  return overlap(left.lse, right.lse) && consistent_sums(left, right) &&
         consistent_inputs(left, right);
}

BothOracles::BothOracles() : before_(both_oracles) {
  both_oracles = true;
}
BothOracles::~BothOracles() {
  both_oracles = before_;
}

OracleCounts oracle_counts() {
  const Counters& counts = counters();
  return {counts.by_double_double, counts.by_mpfr, counts.audited, counts.contradictions};
}

}  // namespace attest::reference
