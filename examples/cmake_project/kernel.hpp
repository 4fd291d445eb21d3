// A kernel as a project has it, and what attest needs to know about it.
#pragma once

#include <memory>

#include "attest/kernel.hpp"

namespace mine {

using attest::Index;

/// Tensors are dense, [batch][row][head][column].
struct Shape {
  Index batch, queries, keys, heads, columns, value_columns;
  Index offset;  ///< query i sees the keys up to i + offset
  float scale;
};

struct Tensors {
  const float *q, *k, *v;
  float *out, *lse;
};

/// out = softmax(scale q k^T) v, and lse, the logarithm of what softmax divides by. A row that sees
/// no key is 0 with lse -inf.
void attention(const Shape& shape, const Tensors& tensors);

/// The same with a bug: what was summed is not rescaled when a larger score comes.
void wrong_attention(const Shape& shape, const Tensors& tensors);

std::unique_ptr<attest::Kernel> make_kernel();
std::unique_ptr<attest::Kernel> make_wrong_kernel();

}  // namespace mine
