/* Textbook attention as a plug-in of attest: attest check ./libattention.so
 *
 * All arithmetic is in double, row after row: scores, their maximum, weights, the average of v. It
 * knows causal masks, windows, key lengths and grouped heads, writes the natural lse, and has a
 * backward pass.
 *
 * PLANTED=1..4 makes it wrong on purpose: attest check must find each of them. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attest/kernel_abi.h"

#ifndef PLANTED
#define PLANTED 0
#endif
enum {
  CAUSAL_FROM_THE_TOP = 1,
  WINDOW_COUNTS_ITSELF = 2,
  LSE_IN_BASE_TWO = 3,
  PADDING_IS_SEEN = 4
};

static const attest_accuracy accuracy = {
    .size = sizeof(attest_accuracy),
    .accumulators = ATTEST_F64,
    .rounding = ATTEST_ROUNDING_NEAREST,
    .weights = ATTEST_F64, /* not rounded before they multiply v */
    .underflow = ATTEST_UNDERFLOW_GRADUAL,
    .exp_form = ATTEST_EXP_NATURAL,
    .scope = ATTEST_SCOPE_ROW,
    .ordered_sums = ATTEST_SUMS_ORDERED,
    .exp_ulp = 1, /* of glibc */
    .log_ulp = 1,
    .division_ulp = 0.5,
    .gradient_weights = ATTEST_F64,
    .score_gradients = ATTEST_F64,
};

static const attest_description description = {
    .size = sizeof(attest_description),
    .name = "textbook_c",
    .version = "1",
    .summary = "scores of a row, their maximum, weights, average; in double",
    .dtypes = ATTEST_BIT(ATTEST_F32) | ATTEST_BIT(ATTEST_F64) | ATTEST_BIT(ATTEST_BF16),
    .features = ATTEST_HAS_CAUSAL | ATTEST_HAS_WINDOW | ATTEST_HAS_MASK_BITS |
                ATTEST_HAS_KEY_LENGTHS | ATTEST_HAS_LSE | ATTEST_HAS_GROUPED_HEADS |
                ATTEST_HAS_STRIDES | ATTEST_HAS_BACKWARD | ATTEST_HAS_PARALLEL_CALLS,
    .accuracy = &accuracy,
};

/* ---- Elements ------------------------------------------------------------------------------ */

static double load(const attest_tensor* tensor, int64_t at) {
  switch (tensor->dtype) {
    case ATTEST_F64:
      return ((const double*)tensor->data)[at];
    case ATTEST_F32:
      return (double)((const float*)tensor->data)[at];
    default: { /* ATTEST_BF16: the upper half of a float */
      const uint32_t bits = (uint32_t)((const uint16_t*)tensor->data)[at] << 16;
      float value;
      memcpy(&value, &bits, sizeof value);
      return (double)value;
    }
  }
}

static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (isnan(value)) return 0x7fc0;
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); /* to nearest, ties to even */
}

static void store(const attest_tensor* tensor, int64_t at, double value) {
  switch (tensor->dtype) {
    case ATTEST_F64:
      ((double*)tensor->data)[at] = value;
      return;
    case ATTEST_F32:
      ((float*)tensor->data)[at] = (float)value;
      return;
    default:
      ((uint16_t*)tensor->data)[at] = to_bf16((float)value);
  }
}

/* ---- One row of scores --------------------------------------------------------------------- */

static bool visible(const attest_problem* p, int64_t b, int64_t query, int64_t key) {
  int64_t position = query + p->diagonal[b];
  if (PLANTED == CAUSAL_FROM_THE_TOP) position = query;
  const int64_t left = p->window_left - (PLANTED == WINDOW_COUNTS_ITSELF ? 1 : 0);
  if (key >= p->key_lengths[b] && PLANTED != PADDING_IS_SEEN) return false;
  if ((p->mask & ATTEST_MASK_CAUSAL) && key > position) return false;
  if ((p->mask & ATTEST_MASK_WINDOW_LEFT) && key < position - left) return false;
  if ((p->mask & ATTEST_MASK_WINDOW_RIGHT) && key > position + p->window_right) return false;
  if (!(p->mask & ATTEST_MASK_BITS)) return true;
  return p->bits[(p->bits_rows == 1 ? 0 : query) * p->bits_columns + key] != 0;
}

static double dot(const attest_tensor* a, int64_t a_row, const attest_tensor* b, int64_t b_row,
                  int64_t length) {
  double sum = 0;
  for (int64_t c = 0; c < length; ++c)
    sum += load(a, a_row + c * a->strides[3]) * load(b, b_row + c * b->strides[3]);
  return sum;
}

/* Scores of one row; -INFINITY: not visible. */
static void score_row(const attest_problem* p, const attest_tensor* q, const attest_tensor* k,
                      int64_t b, int64_t head, int64_t query, double* scores) {
  const int64_t kv_head = head / (p->heads_q / p->heads_kv);
  const int64_t q_row = attest_query_row(p, q, b, head, query);
  for (int64_t key = 0; key < p->seq_kv; ++key) {
    scores[key] = -INFINITY;
    if (!visible(p, b, query, key)) continue;
    scores[key] = p->scale * dot(q, q_row, k, attest_key_row(p, k, b, kv_head, key), p->head_dim);
  }
}

/* ---- Forward ------------------------------------------------------------------------------- */

static void write_row(const attest_problem* p, const attest_forward_tensors* t, int64_t b,
                      int64_t head, int64_t query, const double* scores, double* output) {
  const int64_t kv_head = head / (p->heads_q / p->heads_kv);
  double max = -INFINITY;
  for (int64_t key = 0; key < p->seq_kv; ++key) /* a NaN becomes the maximum, and shows */
    if (scores[key] != -INFINITY && !(scores[key] <= max)) max = scores[key];
  double sum = 0;
  for (int64_t c = 0; c < p->head_dim_v; ++c) output[c] = 0;
  for (int64_t key = 0; key < p->seq_kv; ++key) {
    if (scores[key] == -INFINITY) continue;
    const double weight = exp(scores[key] - max);
    const int64_t v_row = attest_key_row(p, t->v, b, kv_head, key);
    sum += weight;
    for (int64_t c = 0; c < p->head_dim_v; ++c)
      output[c] += weight * load(t->v, v_row + c * t->v->strides[3]);
  }
  const int64_t out_row = attest_query_row(p, t->out, b, head, query);
  for (int64_t c = 0; c < p->head_dim_v; ++c)
    store(t->out, out_row + c * t->out->strides[3], max == -INFINITY ? 0 : output[c] / sum);
  if (t->lse == NULL) return;
  double lse = max == -INFINITY ? max : max + log(sum);
  if (PLANTED == LSE_IN_BASE_TWO) lse *= 1.4426950408889634;
  store(t->lse, attest_query_row(p, t->lse, b, head, query), lse);
}

static int fail(attest_message* message, const char* why) {
  strncpy(message->text, why, message->capacity - 1);
  return ATTEST_FAILED;
}

static int forward(const attest_problem* p, const attest_tiling* tiling,
                   const attest_forward_tensors* t, attest_message* message) {
  (void)tiling; /* no tiles */
  double* const scores = malloc((size_t)(p->seq_kv + p->head_dim_v + 1) * sizeof *scores);
  if (scores == NULL) return fail(message, "out of memory");
  for (int64_t b = 0; b < p->batch; ++b)
    for (int64_t head = 0; head < p->heads_q; ++head)
      for (int64_t query = 0; query < p->query_lengths[b]; ++query) {
        score_row(p, t->q, t->k, b, head, query, scores);
        write_row(p, t, b, head, query, scores, scores + p->seq_kv);
      }
  free(scores);
  return ATTEST_OK;
}

/* ---- Backward ------------------------------------------------------------------------------ */

/* Sums of one kv head, in double until they are complete. */
typedef struct gradient_sums {
  double* scores; /* of one row */
  double* dq;     /* of one row */
  double* dk;     /* seq_kv x head_dim */
  double* dv;     /* seq_kv x head_dim_v */
} gradient_sums;

static void add_row(const attest_problem* p, const attest_backward_tensors* t, int64_t b,
                    int64_t head, int64_t query, gradient_sums sums) {
  const int64_t kv_head = head / (p->heads_q / p->heads_kv);
  const int64_t q_row = attest_query_row(p, t->q, b, head, query);
  const int64_t dout_row = attest_query_row(p, t->dout, b, head, query);
  const int64_t out_row = attest_query_row(p, t->out, b, head, query);
  const int64_t dq_row = attest_query_row(p, t->dq, b, head, query);
  const double lse = load(t->lse, attest_query_row(p, t->lse, b, head, query));
  const double delta = dot(t->dout, dout_row, t->out, out_row, p->head_dim_v);
  score_row(p, t->q, t->k, b, head, query, sums.scores);
  for (int64_t c = 0; c < p->head_dim; ++c) sums.dq[c] = 0;
  for (int64_t key = 0; key < p->seq_kv; ++key) {
    if (sums.scores[key] == -INFINITY) continue;
    const int64_t k_row = attest_key_row(p, t->k, b, kv_head, key);
    const int64_t v_row = attest_key_row(p, t->v, b, kv_head, key);
    const double weight = exp(sums.scores[key] - lse);
    const double ds = weight * (dot(t->dout, dout_row, t->v, v_row, p->head_dim_v) - delta);
    for (int64_t c = 0; c < p->head_dim; ++c) {
      sums.dq[c] += ds * load(t->k, k_row + c * t->k->strides[3]);
      sums.dk[key * p->head_dim + c] += ds * load(t->q, q_row + c * t->q->strides[3]);
    }
    for (int64_t c = 0; c < p->head_dim_v; ++c)
      sums.dv[key * p->head_dim_v + c] +=
          weight * load(t->dout, dout_row + c * t->dout->strides[3]);
  }
  for (int64_t c = 0; c < p->head_dim; ++c)
    store(t->dq, dq_row + c * t->dq->strides[3], p->scale * sums.dq[c]);
}

static void backward_of_head(const attest_problem* p, const attest_backward_tensors* t, int64_t b,
                             int64_t kv_head, gradient_sums sums) {
  const int64_t group = p->heads_q / p->heads_kv;
  memset(sums.dk, 0, (size_t)(p->seq_kv * p->head_dim) * sizeof *sums.dk);
  memset(sums.dv, 0, (size_t)(p->seq_kv * p->head_dim_v) * sizeof *sums.dv);
  for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head)
    for (int64_t query = 0; query < p->query_lengths[b]; ++query)
      add_row(p, t, b, head, query, sums);
  for (int64_t key = 0; key < p->key_lengths[b]; ++key) {
    const int64_t dk_row = attest_key_row(p, t->dk, b, kv_head, key);
    const int64_t dv_row = attest_key_row(p, t->dv, b, kv_head, key);
    for (int64_t c = 0; c < p->head_dim; ++c)
      store(t->dk, dk_row + c * t->dk->strides[3], p->scale * sums.dk[key * p->head_dim + c]);
    for (int64_t c = 0; c < p->head_dim_v; ++c)
      store(t->dv, dv_row + c * t->dv->strides[3], sums.dv[key * p->head_dim_v + c]);
  }
}

static int backward(const attest_problem* p, const attest_tiling* tiling,
                    const attest_backward_tensors* t, attest_message* message) {
  (void)tiling;
  const int64_t numbers = p->seq_kv * (1 + p->head_dim + p->head_dim_v) + p->head_dim + 1;
  double* const memory = malloc((size_t)numbers * sizeof *memory);
  if (memory == NULL) return fail(message, "out of memory");
  gradient_sums sums;
  sums.scores = memory;
  sums.dq = sums.scores + p->seq_kv;
  sums.dk = sums.dq + p->head_dim;
  sums.dv = sums.dk + p->seq_kv * p->head_dim;
  for (int64_t b = 0; b < p->batch; ++b)
    for (int64_t kv_head = 0; kv_head < p->heads_kv; ++kv_head)
      backward_of_head(p, t, b, kv_head, sums);
  free(memory);
  return ATTEST_OK;
}

/* ---- Table --------------------------------------------------------------------------------- */

static const attest_description* describe(void) {
  return &description;
}

const attest_kernel_table* attest_kernel(void) {
  static const attest_kernel_table table = {
      .size = sizeof(attest_kernel_table),
      .abi_version = ATTEST_ABI_VERSION,
      .describe = describe,
      .forward = forward,
      .backward = backward,
  };
  return &table;
}
