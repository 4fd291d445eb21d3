#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

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

bool is_narrow(const Enclosure& enclosure, double bound) {
  // A pair of doubles cannot say more than its smallest number; no precision narrows that.
  return enclosure.radius <= kWidthShare * bound ||
         enclosure.radius <= std::numeric_limits<double>::denorm_min();
}

bool is_narrow(const CertifiedRow& row) {
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
  row.narrow = is_narrow(row);
}

/// FNV-1a over numbers of the row: the choice of audited rows repeats with the case.
bool is_audited(const RowFacts& facts) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  const auto mix = [&](double number) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 0x100000001B3U;
    hash ^= hash >> 29U;
  };
  for (const double score : facts.score) mix(score);
  for (const Enclosure& output : facts.output) mix(output.high);
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
    std::optional<RowFacts> facts = enclose_row(row, bits);
    if (!facts) return std::nullopt;
    certified.bits = bits;
    certified.facts = std::move(*facts);
    judge_width(certified, rule);
    if (certified.narrow) break;
  }
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
  return overlap(left.lse, right.lse) && near(left.log_sum + 1, right.log_sum + 1);
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
