#include <algorithm>
#include <numeric>

#include "reference/interval_classes.hpp"

namespace attest::reference {
namespace {

/// Equal pairs are equal scores, and other pairs are other scores.
struct ExactScore {
  Scratch x{kScoreBits};      ///< x_j and what is added before a softcap, or everything
  Scratch after{kValueBits};  ///< what is added after a softcap

  bool operator<(const ExactScore& other) const {
    const int order = mpfr_cmp(x.get(), other.x.get());
    return order != 0 ? order < 0 : mpfr_less_p(after.get(), other.after.get()) != 0;
  }
};

/// Every operation is exact, so that the rounding mode says nothing.
std::vector<ExactScore> exact_scores(const Row& row) {
  const auto d = static_cast<std::size_t>(row.head_dim);
  Scratch product(106);
  std::vector<ExactScore> scores(row.keys.size());
  for (std::size_t j = 0; j < scores.size(); ++j) {
    mpfr_ptr x = scores[j].x.get();
    mpfr_set_zero(x, 1);
    mpfr_set_zero(scores[j].after.get(), 1);
    for (std::size_t c = 0; c < d; ++c) {
      mpfr_set_d(product.get(), row.q[c], MPFR_RNDN);
      mpfr_mul_d(product.get(), product.get(), row.k[j * d + c], MPFR_RNDN);
      mpfr_add(x, x, product.get(), MPFR_RNDN);
    }
    mpfr_mul_d(x, x, row.scale, MPFR_RNDN);
    for (const ScoreAddend& addend : row.addends) {
      const bool inside = row.softcap == 0 || addend.before_softcap;
      mpfr_ptr sum = inside ? x : scores[j].after.get();
      mpfr_add_d(sum, sum, addend.value[j], MPFR_RNDN);
    }
  }
  if (row.sink) {
    ExactScore& sink = scores.emplace_back();
    mpfr_set_d(sink.x.get(), row.softcap == 0 ? *row.sink : 0.0, MPFR_RNDN);
    mpfr_set_d(sink.after.get(), row.softcap == 0 ? 0.0 : *row.sink, MPFR_RNDN);
  }
  return scores;
}

}  // namespace

ScoreClasses classify(const Row& row) {
  const std::vector<ExactScore> scores = exact_scores(row);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t left, std::size_t right) { return scores[left] < scores[right]; });
  ScoreClasses classes;
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (at == 0 || scores[order[at - 1]] < scores[order[at]]) classes.members.emplace_back();
    classes.members.back().push_back(order[at]);
  }
  return classes;
}

std::vector<Scratch> value_sums(const ScoreClasses& classes, const Row& row, std::size_t column) {
  const auto columns = static_cast<std::size_t>(row.head_dim_v);
  std::vector<Scratch> sums;
  sums.reserve(classes.members.size());
  for (const auto& members : classes.members) {
    mpfr_ptr sum = sums.emplace_back(kValueBits).get();
    mpfr_set_zero(sum, 1);
    for (const std::size_t member : members)
      if (member != row.keys.size())  // the sink has value 0
        mpfr_add_d(sum, sum, row.v[member * columns + column], MPFR_RNDN);
  }
  return sums;
}

bool means_agree(const ScoreClasses& classes, const std::vector<Scratch>& sums) {
  Scratch left(kValueBits);
  Scratch right(kValueBits);
  const auto first_size = static_cast<double>(classes.members.front().size());
  for (std::size_t i = 1; i < sums.size(); ++i) {
    const auto size = static_cast<double>(classes.members[i].size());
    mpfr_mul_d(left.get(), sums.front().get(), size, MPFR_RNDN);
    mpfr_mul_d(right.get(), sums[i].get(), first_size, MPFR_RNDN);
    if (mpfr_equal_p(left.get(), right.get()) == 0) return false;
  }
  return true;
}

}  // namespace attest::reference
