#include "properties/twin.hpp"

#include <algorithm>
#include <cmath>

#include "properties/judge.hpp"

namespace attest::properties {
namespace {

template <class Real>
class Twin {
 public:
  Twin(const reference::Row& row, Dtype dtype) : row_(row), dtype_(dtype) {}

  std::vector<double> output() const {
    const std::vector<Real> weights = probabilities();
    std::vector<double> output;
    for (Index c = 0; c < row_.head_dim_v; ++c) {
      Real sum = 0;
      for (std::size_t j = 0; j < weights.size(); ++j)
        sum += weights[j] * static_cast<Real>(row_.v[j * static_cast<std::size_t>(row_.head_dim_v) +
                                                     static_cast<std::size_t>(c)]);
      output.push_back(static_cast<double>(rounded(sum)));
    }
    return output;
  }

 private:
  Real rounded(Real value) const {
    return static_cast<Real>(rounded_to(dtype_, static_cast<double>(value)));
  }

  Real plus(Real score, std::size_t j, bool before_softcap) const {
    for (const ScoreAddend& addend : row_.addends)
      if (addend.before_softcap == before_softcap)
        score = rounded(score + static_cast<Real>(addend.value[j]));
    return score;
  }

  Real score(std::size_t j) const {
    const auto columns = static_cast<std::size_t>(row_.head_dim);
    Real dot = 0;
    for (std::size_t c = 0; c < columns; ++c)
      dot += static_cast<Real>(row_.q[c]) * static_cast<Real>(row_.k[j * columns + c]);
    Real x = plus(rounded(static_cast<Real>(row_.scale) * rounded(dot)), j, true);
    const auto cap = static_cast<Real>(row_.softcap);
    if (cap != 0) x = rounded(cap * std::tanh(x / cap));
    return plus(x, j, false);
  }

  std::vector<Real> probabilities() const {
    std::vector<Real> weights;
    for (std::size_t j = 0; j < row_.keys.size(); ++j) weights.push_back(score(j));
    Real largest = *std::max_element(weights.begin(), weights.end());
    if (row_.sink) largest = std::max(largest, static_cast<Real>(*row_.sink));
    Real sum = 0;
    for (Real& weight : weights) {
      weight = std::exp(weight - largest);
      sum += weight;
    }
    if (row_.sink) sum += std::exp(static_cast<Real>(*row_.sink) - largest);
    for (Real& weight : weights) weight = rounded(weight / sum);
    return weights;
  }

  const reference::Row& row_;
  Dtype dtype_;
};

}  // namespace

std::optional<std::vector<double>> twin_row(const Case& of, const RowIndex& row) {
  const auto gathered = reference::read_row(inputs_of(of), row);
  if (!gathered || gathered->keys.empty()) return std::nullopt;
  return with_real_type(of.problem.compute_dtype(), [&](auto real) {
    return Twin<decltype(real)>(*gathered, of.problem.out_dtype()).output();
  });
}

}  // namespace attest::properties
