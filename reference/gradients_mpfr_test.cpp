// A second opinion on the gradients: differences of the loss.
//
// loss = sum_i (sum_c dout_ic o_ic + dlse_i lse_i), of which the gradients are the derivatives.
// Nothing here knows a formula of a backward pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "reference/interval.hpp"
#include "reference/test_gradient_inputs.hpp"

namespace attest::reference {
namespace {

/// Encloses the loss at a precision of 1024 bits, so that its roundings need no estimate.
using Number = Interval<1024>;

/// Everything that has a gradient, as numbers that can be shifted.
struct Parameters {
  std::vector<Number> q, k, v, bias, sink;  ///< bias: rows x keys, beside the addends

  explicit Parameters(const GradientInputs& inputs)
      : k(inputs.k.begin(), inputs.k.end()), v(inputs.v.begin(), inputs.v.end()) {
    for (const GradientRow& row : inputs.rows) {
      q.insert(q.end(), row.q.begin(), row.q.end());
      bias.resize(bias.size() + static_cast<std::size_t>(inputs.keys));
      sink.emplace_back(row.sink.value_or(0));
    }
  }
};

Number addends_of(const GradientRow& row, std::size_t at, bool before) {
  Number sum = 0;
  for (const ScoreAddend& addend : row.addends)
    if (addend.before_softcap == before) sum += addend.value[at];
  return sum;
}

Number loss(const GradientInputs& inputs, const Parameters& at) {
  const auto d = static_cast<std::size_t>(inputs.head_dim);
  const auto dv = static_cast<std::size_t>(inputs.head_dim_v);
  Number total = 0;
  for (std::size_t i = 0; i < inputs.rows.size(); ++i) {
    const GradientRow& row = inputs.rows[i];
    if (row.keys.empty() && !row.sink) continue;
    Number sum = row.sink ? exp(at.sink[i]) : Number(0);
    Number weighted = 0;  // sum_j exp(s_j) (dout . v_j)
    for (std::size_t seen = 0; seen < row.keys.size(); ++seen) {
      const auto j = static_cast<std::size_t>(row.keys[seen]);
      Number x = 0;
      for (std::size_t c = 0; c < d; ++c) x += at.q[i * d + c] * at.k[j * d + c];
      x *= inputs.scale;
      x += addends_of(row, seen, true);
      const Number& bias = at.bias[i * static_cast<std::size_t>(inputs.keys) + j];
      if (inputs.bias_before_softcap) x += bias;
      if (inputs.softcap != 0) x = inputs.softcap * tanh(x / inputs.softcap);
      x += addends_of(row, seen, false);
      if (!inputs.bias_before_softcap) x += bias;
      const Number weight = exp(std::move(x));
      Number value = 0;
      for (std::size_t c = 0; c < dv; ++c) value += row.output_gradient[c] * at.v[j * dv + c];
      sum += weight;
      weighted += weight * value;
    }
    total += weighted / sum + row.lse_gradient * log(sum);
  }
  return total;
}

/// How many of the problems that were compared have what could be treated alone.
struct Parts {
  int sink = 0, lse_gradient = 0, softcap = 0, before_softcap = 0, after_softcap = 0;
  int shared_keys = 0, bias_before_softcap = 0, rows_without_keys = 0;

  void count(const GradientInputs& inputs) {
    const auto any = [&](auto&& has) {
      return std::any_of(inputs.rows.begin(), inputs.rows.end(), has) ? 1 : 0;
    };
    const auto has_addend = [](const GradientRow& row, bool before) {
      return std::any_of(row.addends.begin(), row.addends.end(), [&](const ScoreAddend& addend) {
        return addend.before_softcap == before;
      });
    };
    const bool capped = inputs.softcap != 0;
    sink += any([](const GradientRow& row) { return row.sink.has_value(); });
    lse_gradient += any([](const GradientRow& row) { return row.lse_gradient != 0; });
    softcap += capped ? 1 : 0;
    bias_before_softcap += capped && inputs.bias_before_softcap ? 1 : 0;
    before_softcap +=
        capped ? any([&](const GradientRow& row) { return has_addend(row, true); }) : 0;
    after_softcap +=
        capped ? any([&](const GradientRow& row) { return has_addend(row, false); }) : 0;
    shared_keys += inputs.rows.size() > 1 ? 1 : 0;
    rows_without_keys += any([](const GradientRow& row) { return row.keys.empty(); });
  }
};

TEST(GradientsByDifferences, AgreeInEveryElement) {
  // Shifted by 2^-200, a third derivative below 2^100 leaves less than 2^-300.
  const Number shift = 0x1p-200;
  const Number unseen = 0x1p-300;
  GradientDraw<float> draw(11);
  int compared = 0;
  int problems = 0;
  Parts parts;
  while (problems < 40) {
    const GradientInputs inputs = draw.next();
    const GradientFacts facts = gradient_facts(inputs, 384);
    // Moderate numbers, so that the third derivatives are below 2^100.
    bool moderate = std::abs(inputs.scale) < 0x1p10;
    for (const GradientRowFacts& row : facts.rows)
      for (const GradientPair& pair : row.pairs)
        moderate = moderate && pair.value_dot_magnitude < 0x1p40 && pair.input_magnitude < 0x1p10;
    if (!moderate) continue;
    ++problems;
    parts.count(inputs);
    Parameters at(inputs);
    const auto check = [&](std::vector<Number>& shifted, const std::vector<Enclosure>& exact,
                           const char* name) {
      for (std::size_t e = 0; e < exact.size(); ++e) {
        const Number kept = shifted[e];
        shifted[e] = kept + shift;
        const Number above = loss(inputs, at);
        shifted[e] = kept - shift;
        const Number below = loss(inputs, at);
        shifted[e] = kept;
        const Number slope = (above - below) / (2 * shift);
        const Number apart = slope - exact[e].high - exact[e].low;
        const Number limit = exact[e].radius + unseen;
        ASSERT_LE(upper_double<1024>(apart - limit), 0)
            << name << " " << e << " of problem " << problems << ": " << exact[e].high;
        ASSERT_LE(upper_double<1024>(-apart - limit), 0)
            << name << " " << e << " of problem " << problems << ": " << exact[e].high;
        ++compared;
      }
    };
    check(at.q, facts.exact.dq, "dq");
    check(at.k, facts.exact.dk, "dk");
    check(at.v, facts.exact.dv, "dv");
    check(at.bias, facts.exact.dbias, "dbias");
    check(at.sink, facts.exact.dsink, "dsink");
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(compared, 1000);
  for (const int count :
       {parts.sink, parts.lse_gradient, parts.softcap, parts.before_softcap, parts.after_softcap,
        parts.shared_keys, parts.bias_before_softcap, parts.rows_without_keys})
    EXPECT_GE(count, 3);
}

}  // namespace
}  // namespace attest::reference
