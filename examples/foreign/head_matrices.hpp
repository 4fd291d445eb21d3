// What plug-ins need that compute one head at a time on dense matrices: the rows of a head gathered
// from any storage, and the mask of a batch member as a matrix.
//
// Rows of a ragged batch member beyond its lengths are part of the matrices, as they are in a
// padded batch, and a mask hides them. They are ones, so that a weight that they get shows.
#pragma once

#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "attest/kernel_abi.h"

namespace foreign {

/// One query head of one batch member.
struct Head {
  const attest_problem& problem;
  int64_t b;
  int64_t h;

  int64_t kv_head() const { return h / (problem.heads_q / problem.heads_kv); }
  int64_t queries() const { return problem.query_lengths[b]; }
  int64_t keys() const { return problem.key_lengths[b]; }
};

/// The number 1; of 16-bit elements, which hold bits of bf16, its bits.
template <class Element>
constexpr Element one() {
  return sizeof(Element) == 2 ? static_cast<Element>(0x3f80) : Element{1};
}

/// Rows of q, (seq_q, columns); ones beyond the query length.
template <class Element>
std::vector<Element> query_rows(const Head& head, const attest_tensor& tensor) {
  const int64_t columns = tensor.extents[3];
  std::vector<Element> rows(static_cast<std::size_t>(head.problem.seq_q * columns), one<Element>());
  const auto* data = static_cast<const Element*>(tensor.data);
  for (int64_t i = 0; i < head.queries(); ++i) {
    const int64_t row = attest_query_row(&head.problem, &tensor, head.b, head.h, i);
    for (int64_t c = 0; c < columns; ++c)
      rows[static_cast<std::size_t>(i * columns + c)] = data[row + c * tensor.strides[3]];
  }
  return rows;
}

/// Rows of k or v, (seq_kv, columns); ones beyond the key length.
template <class Element>
std::vector<Element> key_rows(const Head& head, const attest_tensor& tensor) {
  const int64_t columns = tensor.extents[3];
  std::vector<Element> rows(static_cast<std::size_t>(head.problem.seq_kv * columns),
                            one<Element>());
  const auto* data = static_cast<const Element*>(tensor.data);
  for (int64_t j = 0; j < head.keys(); ++j) {
    const int64_t row = attest_key_row(&head.problem, &tensor, head.b, head.kv_head(), j);
    for (int64_t c = 0; c < columns; ++c)
      rows[static_cast<std::size_t>(j * columns + c)] = data[row + c * tensor.strides[3]];
  }
  return rows;
}

/// Writes the rows that exist of out or lse; `rows` is (seq_q, columns).
template <class Element>
void write_rows(const Head& head, const attest_tensor& tensor, const Element* rows) {
  const int64_t columns = tensor.extents[3];
  auto* data = static_cast<Element*>(tensor.data);
  for (int64_t i = 0; i < head.queries(); ++i) {
    const int64_t row = attest_query_row(&head.problem, &tensor, head.b, head.h, i);
    for (int64_t c = 0; c < columns; ++c) data[row + c * tensor.strides[3]] = rows[i * columns + c];
  }
}

/// The parts of a mask that these plug-ins declare: lengths, causal, window, bits, additive.
inline bool visible(const attest_problem& problem, int64_t b, int64_t query, int64_t key) {
  const int64_t p = query + problem.diagonal[b];
  if (key >= problem.key_lengths[b]) return false;
  if ((problem.mask & ATTEST_MASK_CAUSAL) != 0 && key > p) return false;
  if ((problem.mask & ATTEST_MASK_WINDOW_LEFT) != 0 && key < p - problem.window_left) return false;
  if ((problem.mask & ATTEST_MASK_WINDOW_RIGHT) != 0 && key > p + problem.window_right)
    return false;
  const int64_t bits_row = problem.bits_rows == 1 ? 0 : query;
  if ((problem.mask & ATTEST_MASK_BITS) != 0 &&
      problem.bits[bits_row * problem.bits_columns + key] == 0)
    return false;
  const int64_t additive_row = problem.additive_rows == 1 ? 0 : query;
  return (problem.mask & ATTEST_MASK_ADDITIVE) == 0 ||
         problem.additive[additive_row * problem.additive_columns + key] !=
             -std::numeric_limits<double>::infinity();
}

/// What is added to the scores of a head, (seq_q, seq_kv): -inf for a key that is not visible, else
/// the bias, of the type Real, and the number of an additive mask.
template <class Real>
std::vector<Real> additive_mask(const Head& head, const attest_tensor* bias) {
  const attest_problem& problem = head.problem;
  std::vector<Real> mask(static_cast<std::size_t>(problem.seq_q * problem.seq_kv));
  for (int64_t i = 0; i < problem.seq_q; ++i)
    for (int64_t j = 0; j < problem.seq_kv; ++j) {
      Real& number = mask[static_cast<std::size_t>(i * problem.seq_kv + j)];
      if (!visible(problem, head.b, i, j)) {
        number = -std::numeric_limits<Real>::infinity();
        continue;
      }
      const int64_t additive_row = problem.additive_rows == 1 ? 0 : i;
      if ((problem.mask & ATTEST_MASK_ADDITIVE) != 0)
        number = static_cast<Real>(problem.additive[additive_row * problem.additive_columns + j]);
      if (bias != nullptr)
        number += static_cast<const Real*>(
            bias->data)[head.b * bias->strides[0] + head.h * bias->strides[1] +
                        i * bias->strides[2] + j * bias->strides[3]];
    }
  return mask;
}

inline bool has_mask(const attest_problem& problem) {
  if (problem.mask != 0 || problem.dtype_bias != ATTEST_DTYPE_UNSAID) return true;
  for (int64_t b = 0; b < problem.batch; ++b)
    if (problem.key_lengths[b] != problem.seq_kv) return true;
  return false;
}

/// Says why a call is beyond the library.
inline int unsupported(attest_message* message, const char* why) {
  std::snprintf(message->text, message->capacity, "%s", why);
  return ATTEST_UNSUPPORTED;
}

/// Calls head(Head) for every query head of every batch member.
template <class Body>
void for_each_head(const attest_problem& problem, Body&& body) {
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t h = 0; h < problem.heads_q; ++h) body(Head{problem, b, h});
}

}  // namespace foreign
