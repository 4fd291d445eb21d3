// The kernel alone. Compile it as you ship it; the tests are in other files.
#include "kernel.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace mine {
namespace {

/// One query of one head: keys one after the other, with the maximum so far.
template <bool Rescales>
void attend(const Shape& shape, const Tensors& t, Index b, Index h, Index query) {
  const Index row = (b * shape.queries + query) * shape.heads + h;
  float row_max = -std::numeric_limits<float>::infinity();
  float row_sum = 0;
  std::vector<float> numerator(static_cast<std::size_t>(shape.value_columns), 0.0F);
  for (Index key = 0; key < shape.keys && key <= query + shape.offset; ++key) {
    const Index key_row = (b * shape.keys + key) * shape.heads + h;
    float score = 0;
    for (Index c = 0; c < shape.columns; ++c)
      score += t.q[row * shape.columns + c] * t.k[key_row * shape.columns + c];
    score *= shape.scale;
    if (score == -std::numeric_limits<float>::infinity()) continue;  // an exclusion
    if (!(score <= row_max)) {  // a NaN as well, which then stays visible
      const float rescale = Rescales ? std::exp(row_max - score) : 1.0F;
      row_sum *= rescale;
      for (float& sum : numerator) sum *= rescale;
      row_max = score;
    }
    const float weight = std::exp(score - row_max);
    row_sum += weight;
    for (std::size_t c = 0; c < numerator.size(); ++c)
      numerator[c] += weight * t.v[key_row * shape.value_columns + static_cast<Index>(c)];
  }
  for (std::size_t c = 0; c < numerator.size(); ++c)
    t.out[row * shape.value_columns + static_cast<Index>(c)] =
        row_sum == 0 ? 0.0F : numerator[c] / row_sum;
  t.lse[row] = row_max + std::log(row_sum);
}

template <bool Rescales>
void for_all_rows(const Shape& shape, const Tensors& tensors) {
  for (Index b = 0; b < shape.batch; ++b)
    for (Index h = 0; h < shape.heads; ++h)
      for (Index query = 0; query < shape.queries; ++query)
        attend<Rescales>(shape, tensors, b, h, query);
}

}  // namespace

void attention(const Shape& shape, const Tensors& tensors) {
  for_all_rows<true>(shape, tensors);
}

void wrong_attention(const Shape& shape, const Tensors& tensors) {
  for_all_rows<false>(shape, tensors);
}

}  // namespace mine
