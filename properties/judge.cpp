#include "properties/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/stand_ins.hpp"

namespace attest::properties {
namespace {

/// An lse that is off by this much is off by a factor of more than 1.6 in mass.
constexpr double kUselessLseBound = 0.5;

/// Remembers whether an output made without looking at the scores would have passed.
class StandIns {
 public:
  void look_at(const reference::CertifiedRow& truth) {
    const RowFacts& facts = truth.facts;
    const std::vector<double> mean = output_with_scores_times(facts, 0);
    for (std::size_t c = 0; c < mean.size(); ++c) {
      compare(zero_, truth, c, 0);
      compare(mean_, truth, c, mean[c]);
    }
  }
  /// The name of a stand-in that differs from the truth and was accepted everywhere, or null.
  const char* accepted() const {
    if (zero_.differs && !zero_.rejected) return "all zeros";
    if (mean_.differs && !mean_.rejected) return "the mean of v";
    return nullptr;
  }

 private:
  struct Seen {
    bool differs = false;
    bool rejected = false;
  };
  static void compare(Seen& seen, const reference::CertifiedRow& truth, std::size_t c,
                      double stand_in) {
    if (!differs(truth.facts, c, stand_in)) return;
    seen.differs = true;
    seen.rejected =
        seen.rejected || truth.facts.output[c].distance_lower(stand_in) > truth.bound.output[c];
  }

  Seen zero_;
  Seen mean_;
};

std::optional<SharedRow> enclose_for_all(const Case& of, const RowIndex& row,
                                         std::span<const Computation> computations) {
  std::vector<RowBound> bounds;
  auto exact = reference::certify_row(inputs_of(of), row, [&](const RowFacts& facts) {
    bounds.clear();
    for (const Computation& computation : computations)
      bounds.push_back(
          error_bound(computation.accuracy, facts, computation.tiling, of.problem.seq_kv));
    RowBound least = bounds.front();
    for (const RowBound& bound : bounds) {
      if (!bound.proven()) continue;
      if (!least.proven()) least = bound;
      for (std::size_t c = 0; c < least.output.size(); ++c)
        least.output[c] = std::min(least.output[c], bound.output[c]);
      least.lse = std::min(least.lse, bound.lse);
    }
    return least;
  });
  if (!exact) return std::nullopt;
  // A row without visible keys is exact and asks for no bound.
  bounds.resize(computations.size(), exact->bound);
  return SharedRow{std::move(*exact), std::move(bounds)};
}

bool decided_fast(const reference::CertifiedRow& row) {
  return row.arithmetic == reference::Arithmetic::double_double && !row.facts.keys.empty();
}
bool decided_fast(const SharedRow& row) {
  return decided_fast(row.exact);
}

/// certify(), and once more by both oracles if the fast one decided a row that has something near
/// its bound: share(certified) is the largest share of a bound in it.
template <class Certify, class Share>
auto certify_and_audit(Certify&& certify, Share&& share) {
  auto row = certify();
  if (!row || !decided_fast(*row) || share(*row) < kNearBound) return row;
  const reference::BothOracles both;
  return certify();
}

}  // namespace

std::optional<reference::CertifiedRow> Truth::row(const RowIndex& row) const {
  return reference::certify_row(inputs_of(of_), row, [this](const RowFacts& facts) {
    return error_bound(accuracy_, facts, of_.tiling, of_.problem.seq_kv);
  });
}

std::vector<double> Truth::probable_errors(const reference::CertifiedRow& exact) const {
  return probable_error(accuracy_, exact.facts, of_.tiling, of_.problem.seq_kv);
}

std::optional<reference::CertifiedRow> Truth::row(const RowIndex& row,
                                                  const Outputs& outputs) const {
  return certify_and_audit([&] { return this->row(row); },
                           [&](const reference::CertifiedRow& exact) {
                             return share_of_bound(exact.facts, exact.bound, row, outputs);
                           });
}

std::optional<SharedRow> certify_for_all(const Case& of, const RowIndex& row,
                                         std::span<const Computation> computations) {
  return certify_and_audit([&] { return enclose_for_all(of, row, computations); },
                           [&](const SharedRow& shared) {
                             double largest = 0;
                             for (std::size_t i = 0; i < computations.size(); ++i) {
                               if (computations[i].outputs == nullptr) continue;
                               largest = std::max(
                                   largest, share_of_bound(shared.exact.facts, shared.bounds[i],
                                                           row, *computations[i].outputs));
                             }
                             return largest;
                           });
}

double value_magnitude(const RowFacts& facts, std::size_t column) {
  double sum = 0;
  for (std::size_t j = 0; j < facts.keys.size(); ++j)
    sum += facts.probability[j] * std::abs(facts.value[j * facts.output.size() + column]);
  return sum;
}

bool informative_output(const reference::CertifiedRow& row, std::size_t column) {
  const double magnitude = value_magnitude(row.facts, column);
  return row.facts.keys.empty() || magnitude == 0 || row.bound.output[column] < magnitude;
}

bool informative_lse(const reference::CertifiedRow& row) {
  return row.facts.keys.empty() || row.bound.lse < kUselessLseBound;
}

double share_of_bound(const RowFacts& facts, const RowBound& bound, const RowIndex& row,
                      const Outputs& outputs) {
  const auto [b, h, query] = row;
  double largest = 0;
  const auto add = [&](double error, double limit) {
    if (error == 0) return;
    const double share =
        std::isnan(error) ? std::numeric_limits<double>::infinity() : error / limit;
    largest = std::max(largest, share);
  };
  if (!bound.proven()) return 0;
  for (std::size_t c = 0; c < facts.output.size(); ++c)
    add(facts.output[c].distance_upper(outputs.out.get(b, h, query, static_cast<Index>(c))),
        bound.output[c]);
  if (outputs.has_lse()) add(facts.lse.distance_upper(outputs.lse.get(b, h, query, 0)), bound.lse);
  return largest;
}

Index count_beyond(std::span<const double> probable, const RowFacts& facts, const RowIndex& row,
                   const Outputs& outputs) {
  Index count = 0;
  for (std::size_t c = 0; c < probable.size(); ++c) {
    const double got = outputs.out.get(row.batch, row.head, row.query, static_cast<Index>(c));
    if (!(facts.output[c].distance_lower(got) <= probable[c])) ++count;
  }
  return count;
}

void judge_row(Tally& tally, const reference::CertifiedRow& truth, const RowIndex& row, Part part,
               const Outputs& outputs) {
  const auto [b, h, query] = row;
  if (!truth.bound.proven()) {
    tally.undecided(truth.bound.unproven);
  } else if (part == Part::lse) {
    tally.within({"lse", row}, outputs.lse.get(b, h, query, 0), truth.facts.lse, truth.bound.lse,
                 informative_lse(truth));
  } else {
    for (std::size_t c = 0; c < truth.facts.output.size(); ++c) {
      const auto column = static_cast<Index>(c);
      tally.within({"out", row, column}, outputs.out.get(b, h, query, column),
                   truth.facts.output[c], truth.bound.output[c], informative_output(truth, c));
    }
  }
  tally.end_row();
}

Verdict judge_outputs(const Kernel& kernel, const Case& of, const Outputs& outputs, Part part) {
  Tally tally;
  StandIns stand_ins;
  const Truth truth(kernel, of);
  Index beyond_probable = 0;
  for_each_row(of.problem, [&](const RowIndex& row) {
    const auto exact = truth.row(row);
    if (!exact) {
      tally.undecided("a visible input is not finite");
      return;
    }
    judge_row(tally, *exact, row, part, outputs);
    if (part != Part::out || exact->facts.keys.empty() || !exact->bound.proven()) return;
    stand_ins.look_at(*exact);
    beyond_probable += count_beyond(truth.probable_errors(*exact), exact->facts, row, outputs);
  });
  Verdict verdict = tally.verdict();
  verdict.beyond_probable = beyond_probable;
  if (verdict.outcome == Outcome::ok && stand_ins.accepted() != nullptr) {
    verdict.outcome = Outcome::weak;
    verdict.reason = std::string("the bound would also accept ") + stand_ins.accepted();
  }
  return verdict;
}

void same_row_bits(Tally& tally, const RowIndex& row, const Outputs& got, const Outputs& want,
                   std::string_view reason) {
  const auto [b, h, query] = row;
  for (Index c = 0; c < want.out.extents()[3]; ++c)
    tally.same_bits({"out", row, c}, got.out.get(b, h, query, c), want.out.get(b, h, query, c),
                    reason);
  if (want.has_lse())
    tally.same_bits({"lse", row}, got.lse.get(b, h, query, 0), want.lse.get(b, h, query, 0),
                    reason);
  tally.end_row();
}

void agree_rows(Tally& tally, const JudgedRow& left, const JudgedRow& right, double lse_offset) {
  const auto bound_of = [](const JudgedRow& judged) -> const RowBound& {
    return judged.truth.bound;
  };
  const auto read = [](const Tensor& tensor, const RowIndex& row, Index column) {
    return tensor.get(row.batch, row.head, row.query, column);
  };
  if (!bound_of(left).proven() || !bound_of(right).proven()) {
    tally.undecided(bound_of(left).proven() ? bound_of(right).unproven : bound_of(left).unproven);
    return;
  }
  for (std::size_t c = 0; c < left.truth.facts.output.size(); ++c) {
    const auto column = static_cast<Index>(c);
    tally.agree({"out", left.row, column}, read(left.outputs.out, left.row, column),
                read(right.outputs.out, right.row, column),
                bound_of(left).output[c] + bound_of(right).output[c],
                informative_output(left.truth, c) && informative_output(right.truth, c));
  }
  if (!left.outputs.has_lse() || !right.outputs.has_lse()) {
    tally.end_row();
    return;
  }
  const double left_lse = read(left.outputs.lse, left.row, 0);
  const double right_lse = read(right.outputs.lse, right.row, 0);
  // The subtraction below is in double: its own rounding is charged to the bound.
  const double rounding = 0x1p-52 * (std::abs(right_lse) + std::abs(lse_offset));
  tally.agree({"lse", left.row}, left_lse, right_lse - lse_offset,
              bound_of(left).lse + bound_of(right).lse +
                  (lse_offset == 0 || !std::isfinite(rounding) ? 0 : rounding),
              informative_lse(left.truth) && informative_lse(right.truth));
  tally.end_row();
}

}  // namespace attest::properties
