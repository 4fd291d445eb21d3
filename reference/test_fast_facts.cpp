// Judges of the facts that the fast oracle gives.
#include <limits>

#include "reference/test_fast_rows.hpp"

namespace attest::reference {
namespace {

/// |left - right|. Each difference is exact in long double where the enclosures are narrow, and
/// loses a share of 2^-64 of a low part otherwise, far below every radius of the fast path.
long double distance(const Enclosure& left, const Enclosure& right) {
  const auto wide = [](double value) { return static_cast<long double>(value); };
  return std::abs((wide(left.high) - right.high) + (wide(left.low) - right.low));
}

bool contains_all_of(const Enclosure& wide, const Enclosure& narrow) {
  return distance(wide, narrow) + narrow.radius <= wide.radius;
}

/// Collects what is wrong.
class Judge {
 public:
  void demand(bool holds, const char* what, std::size_t at) {
    if (!holds) found_.push_back(std::string(what) + " of " + std::to_string(at));
  }
  std::vector<std::string> found() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

/// sum |q k| and sum |k| in long double: off by at most a share of d 2^-63.
struct KeySums {
  long double dot = 0, size = 0;
};
KeySums sums_of(const Row& row, std::size_t j) {
  KeySums sums;
  const auto d = static_cast<std::size_t>(row.head_dim);
  for (std::size_t c = 0; c < d; ++c) {
    const long double k = std::abs(row.k[j * d + c]);
    sums.dot += std::abs(row.q[c]) * k;
    sums.size += k;
  }
  return sums;
}

/// `value` is above the exact number, and not by more than a share of 2^-40.
bool just_above(double value, long double sum) {
  constexpr long double kShare = 0x1p-50L;
  constexpr long double kLost = 1024 * std::numeric_limits<double>::denorm_min();
  return value >= sum * (1 - kShare) && value <= sum * (1 + 0x1p-40L) + kLost;
}

void judge_magnitudes(const RowFacts& facts, const Row& row, Judge& judge) {
  long double query = 0;
  for (const double q : row.q) query += std::abs(q);
  long double dot_max = 0;
  long double size_max = 0;
  for (std::size_t j = 0; j < row.keys.size(); ++j) {
    const KeySums sums = sums_of(row, j);
    judge.demand(just_above(facts.score_magnitude[j], sums.dot * std::abs(row.scale)),
                 "score_magnitude", j);
    dot_max = std::max(dot_max, sums.dot);
    size_max = std::max(size_max, sums.size);
  }
  judge.demand(just_above(facts.dot_magnitude_max, dot_max), "dot_magnitude_max", 0);
  judge.demand(just_above(facts.input_magnitude_max, query + size_max), "input_magnitude_max", 0);
  if (row.sink) judge.demand(facts.score_magnitude.back() == 0, "score_magnitude of sink", 0);
}

void judge_scores(const RowFacts& facts, const RowFacts& truth, Judge& judge) {
  for (std::size_t j = 0; j < truth.score.size(); ++j) {
    const double apart = std::abs(facts.score[j] - truth.score[j]);
    // The truth's radius is what its nearest double leaves out, and a share of 2^-48 at most.
    const double needed =
        apart == 0 ? truth.score_radius[j] * (1 - 0x1p-48) : apart - truth.score_radius[j];
    judge.demand(facts.score_radius[j] >= needed, "score_radius", j);
    judge.demand(apart <= std::abs(truth.score[j]) * 0x1p-51 + facts.score_radius[j], "score", j);
  }
}

void judge_probabilities(const RowFacts& facts, const RowFacts& truth, Judge& judge) {
  for (std::size_t j = 0; j < truth.probability.size(); ++j) {
    // The truth is the smallest double above the exact number.
    judge.demand(facts.probability[j] >= truth.probability[j], "probability", j);
    judge.demand(facts.probability[j] <= truth.probability[j] * (1 + 0x1p-40) +
                                             std::numeric_limits<double>::denorm_min(),
                 "slack of probability", j);
  }
  if (facts.score_max == truth.score_max) {
    judge.demand(facts.log_sum >= truth.log_sum, "log_sum", 0);
    judge.demand(facts.log_sum <= truth.log_sum * (1 + 0x1p-50) + 0x1p-48, "slack of log_sum", 0);
  }
}

}  // namespace

bool contradict(const Enclosure& left, const Enclosure& right) {
  return distance(left, right) > static_cast<long double>(left.radius) + right.radius;
}

std::vector<std::string> weaknesses(const RowFacts& facts, const RowFacts& truth, const Row& row) {
  Judge judge;
  judge.demand(
      facts.keys == truth.keys && facts.addends == truth.addends && facts.value == truth.value,
      "copies", 0);
  judge.demand(facts.scale == truth.scale && facts.softcap == truth.softcap &&
                   facts.head_dim == truth.head_dim,
               "constants", 0);
  judge.demand(facts.score.size() == truth.score.size() &&
                   facts.score_radius.size() == truth.score.size() &&
                   facts.score_magnitude.size() == truth.score.size() &&
                   facts.probability.size() == truth.score.size() &&
                   facts.output.size() == truth.output.size(),
               "sizes", 0);
  std::vector<std::string> found = judge.found();
  if (!found.empty()) return found;
  judge.demand(facts.score_max == *std::max_element(facts.score.begin(), facts.score.end()),
               "score_max", 0);
  judge_magnitudes(facts, row, judge);
  judge_scores(facts, truth, judge);
  judge_probabilities(facts, truth, judge);
  for (std::size_t c = 0; c < truth.output.size(); ++c)
    judge.demand(contains_all_of(facts.output[c], truth.output[c]), "output", c);
  judge.demand(contains_all_of(facts.lse, truth.lse), "lse", 0);
  return judge.found();
}

}  // namespace attest::reference
