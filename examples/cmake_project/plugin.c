/* A kernel of the project as a shared object: attest/kernel_abi.h is all that it needs of attest.
 *
 * Textbook attention of dense f32 rows in double, with a diagonal and an lse. With WRONG_DIAGONAL a
 * row sees the key behind its diagonal, too. */
#include <math.h>

#include "attest/kernel_abi.h"

#ifndef WRONG_DIAGONAL
#define WRONG_DIAGONAL 0
#endif

static const attest_accuracy accuracy = {
    .size = sizeof(attest_accuracy),
    .accumulators = ATTEST_F64,
    .rounding = ATTEST_ROUNDING_NEAREST,
    .weights = ATTEST_F64,
    .exp_ulp = 1,
};

/* What is not named here is never sent to the kernel. */
static const attest_description description = {
    .size = sizeof(attest_description),
    .name = "mine_plugin",
    .version = "1",
    .summary = "textbook attention in double",
    .dtypes = ATTEST_BIT(ATTEST_F32),
    .features = ATTEST_HAS_CAUSAL | ATTEST_HAS_LSE | ATTEST_HAS_PARALLEL_CALLS,
    .accuracy = &accuracy,
};

/* The first key that a query does not see. */
static int64_t end_of_keys(const attest_problem* p, int64_t b, int64_t query) {
  if (!(p->mask & ATTEST_MASK_CAUSAL)) return p->seq_kv;
  const int64_t end = query + p->diagonal[b] + 1 + WRONG_DIAGONAL;
  return end < 0 ? 0 : end < p->seq_kv ? end : p->seq_kv;
}

static double score(const attest_problem* p, const float* q, const float* k) {
  double sum = 0;
  for (int64_t c = 0; c < p->head_dim; ++c) sum += (double)q[c] * (double)k[c];
  return p->scale * sum;
}

/* One row: its largest score, then one column of the output after the other. */
static void attend(const attest_problem* p, const attest_forward_tensors* t, int64_t b,
                   int64_t head, int64_t query) {
  const float* const q = (const float*)t->q->data + attest_query_row(p, t->q, b, head, query);
  float* const out = (float*)t->out->data + attest_query_row(p, t->out, b, head, query);
  const float* const keys = t->k->data;
  const float* const values = t->v->data;
  const int64_t end = end_of_keys(p, b, query);
  double row_max = -INFINITY;
  for (int64_t key = 0; key < end; ++key) {
    const double s = score(p, q, keys + attest_key_row(p, t->k, b, head, key));
    if (!(s <= row_max)) row_max = s; /* a NaN as well, which then stays visible */
  }
  double row_sum = 0;
  for (int64_t c = -1; c < p->head_dim_v; ++c) { /* -1: the sum of the weights */
    double numerator = 0;
    for (int64_t key = 0; key < end; ++key) {
      const double s = score(p, q, keys + attest_key_row(p, t->k, b, head, key));
      if (s == -INFINITY) continue; /* an exclusion */
      const double weight = exp(s - row_max);
      numerator +=
          c < 0 ? weight : weight * (double)values[attest_key_row(p, t->v, b, head, key) + c];
    }
    if (c < 0)
      row_sum = numerator;
    else
      out[c] = row_sum == 0 ? 0 : (float)(numerator / row_sum); /* a row that sees no key is 0 */
  }
  if (t->lse != NULL)
    ((float*)t->lse->data)[attest_query_row(p, t->lse, b, head, query)] =
        (float)(row_sum == 0 ? row_max : row_max + log(row_sum));
}

static int forward(const attest_problem* p, const attest_tiling* tiling,
                   const attest_forward_tensors* t, attest_message* message) {
  (void)tiling;
  (void)message;
  for (int64_t b = 0; b < p->batch; ++b)
    for (int64_t head = 0; head < p->heads_q; ++head)
      for (int64_t query = 0; query < p->query_lengths[b]; ++query) attend(p, t, b, head, query);
  return ATTEST_OK;
}

static const attest_description* describe(void) {
  return &description;
}

const attest_kernel_table* attest_kernel(void) {
  static const attest_kernel_table table = {
      .size = sizeof(attest_kernel_table),
      .abi_version = ATTEST_ABI_VERSION,
      .describe = describe,
      .forward = forward,
  };
  return &table;
}
