/* The C interface of a kernel under test: attest check ./libmine.so
 *
 * A shared object exports one function, attest_kernel, which returns a table of functions. Another
 * name is given after a colon (attest check ./libmine.so:SYMBOL). Plain C11, and C++.
 *
 * Rules that hold everywhere
 *   - Every struct begins with its size in bytes, as its writer knows it. Later versions
 *     add members at the end. Members beyond the size count as zero, so a reader looks with
 *     ATTEST_KNOWS first where a struct may be older than its own header.
 *   - Zero in an optional member (a null pointer, 0, an enumerator ..._UNSAID) means that it is
 *     absent. Each says what its absence means. A struct of zeros, with size and names filled in,
 *     is a modest kernel.
 *   - Strides and extents are in elements, 64 bits. The index order is (batch, head, row, column),
 *     whatever the order in memory is; strides may be any. Row i of batch member b is found with
 *     attest_query_row and attest_key_row.
 *   - Pointers are valid during the call only. Inputs are not written, and of the outputs the
 *     elements of existing rows only (those below the query length of their batch member).
 *   - One call is made at a time, unless the kernel declares ATTEST_HAS_PARALLEL_CALLS. Functions
 * do not throw, exit, print to stdout, or change the rounding mode, and return one of the codes
 *     below.
 *
 * What is computed: attest/problem.hpp, in short
 *   x(i, j)   = scale * (sum_c q(i, c) k(j, c) [+ sum_c qv(i, c) v(j, c)])
 *   s(i, j)   = x after softcap(x) = cap * tanh(x / cap), + bias, + alibi, + additive
 *   out(i, c) = sum over visible j of exp(s - max) v(j, c) / row_sum
 *   lse(i)    = max + ln(row_sum), row_sum = sum over visible j of exp(s - max) [+ exp(sink - max)]
 *
 * From: written for attest; the questions that it answers are those of docs/your-kernel.md.
 */
#ifndef ATTEST_KERNEL_ABI_H
#define ATTEST_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has no using. */

#define ATTEST_ABI_VERSION 1
#define ATTEST_KERNEL_SYMBOL "attest_kernel"

#if defined(_WIN32)
#define ATTEST_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define ATTEST_EXPORT __attribute__((visibility("default")))
#else
#define ATTEST_EXPORT
#endif

/* Whether *pointer is new enough to have the member. */
#define ATTEST_KNOWS(pointer, type, member) \
  ((pointer)->size >= offsetof(type, member) + sizeof((pointer)->member))

/* What a function returns. Text goes to the attest_message of the call. */
enum {
  ATTEST_OK = 0,
  ATTEST_UNSUPPORTED = 1,    /* a problem that this kernel does not do: skipped, never a failure */
  ATTEST_ALL_MASKED_ROW = 2, /* only under ATTEST_EMPTY_REJECT: message->row sees no key */
  ATTEST_FAILED = 3          /* an error that the problem does not justify: a violation */
};

/* Types of elements. attest_description.dtypes has bit ATTEST_BIT(type) for each that it takes. */
enum {
  ATTEST_DTYPE_UNSAID = 0,
  ATTEST_F32 = 1,
  ATTEST_F64 = 2,
  ATTEST_BF16 = 3,
  ATTEST_F16 = 4,
  ATTEST_E4M3 = 5, /* no infinities ("fn") */
  ATTEST_E5M2 = 6
};
#define ATTEST_BIT(number) (UINT64_C(1) << (number))

/* ---- Problem ------------------------------------------------------------------------------- */

/* Non-owning; never written by the kernel, only what `data` points to (of outputs). */
typedef struct attest_tensor {
  uint64_t size;
  void* data;     /* null only where an extent is 0 */
  int32_t dtype;  /* ATTEST_F32 ... */
  int32_t unused; /* 0 */
  int64_t extents[4];
  int64_t strides[4]; /* in elements; may be 0 for the bias, along axes that it does not have */
} attest_tensor;

/* Bits of attest_problem.mask: which parts are present. A key is visible iff all of them let it
 * through, with p = query + diagonal[b]:
 *   CAUSAL        key <= p, or key < prefix      WINDOW_LEFT   key >= p - window_left, or
 *   WINDOW_RIGHT  key <= p + window_right                      key < keep_first
 *   CHUNK         floor(p / chunk) == floor(key / chunk)
 *   SEGMENTS      segments_q[query] == segments_k[key]
 *   BITS          bits[row * bits_columns + key] != 0, row = query, or 0 where bits_rows == 1
 *   BLOCKS        blocks[query / block_q * block_columns + key / block_kv] != 0
 *   ADDITIVE      additive[row * additive_columns + key] is not -inf; it is added to the score
 * and query < query_lengths[b], key < key_lengths[b]. A key that is not visible never matters,
 * whatever its k and v hold (NaN included). */
enum {
  ATTEST_MASK_CAUSAL = 1,
  ATTEST_MASK_WINDOW_LEFT = 2,
  ATTEST_MASK_WINDOW_RIGHT = 4,
  ATTEST_MASK_CHUNK = 8,
  ATTEST_MASK_SEGMENTS = 16,
  ATTEST_MASK_BITS = 32,
  ATTEST_MASK_BLOCKS = 64,
  ATTEST_MASK_ADDITIVE = 128
};

/* Where the diagonal comes from; the offsets themselves are in attest_problem.diagonal. */
enum {
  ATTEST_ALIGN_NONE = 0,         /* nothing needs a diagonal; offsets are 0 */
  ATTEST_ALIGN_TOP_LEFT = 1,     /* 0 */
  ATTEST_ALIGN_BOTTOM_RIGHT = 2, /* key length - query length of the batch member */
  ATTEST_ALIGN_OFFSET = 3        /* a given number, the same for all */
};

/* Bits of attest_problem.before_softcap: additions that come before the softcap; others after. */
enum { ATTEST_BEFORE_BIAS = 1, ATTEST_BEFORE_ALIBI = 2, ATTEST_BEFORE_ADDITIVE = 4 };

/* Bits of attest_problem.bias_axes: axes that the bias has, beside that of keys. */
enum { ATTEST_BIAS_BATCH = 1, ATTEST_BIAS_HEAD = 2, ATTEST_BIAS_QUERY = 4 };

/* ALiBi: what is added to a score, with p = query + alibi_diagonal[b] and the slope of the head. */
enum {
  ATTEST_ALIBI_NONE = 0,
  ATTEST_ALIBI_ABSOLUTE = 1, /* -slope |p - key| */
  ATTEST_ALIBI_RELATIVE = 2, /* -slope (p - key) */
  ATTEST_ALIBI_COLUMN = 3    /* +slope key */
};

/* A logit beside the scores of a row that has no value. */
enum {
  ATTEST_SINK_NONE = 0,
  ATTEST_SINK_TENSOR = 1, /* one a query head: attest_forward_tensors.sink, extents (1, H, 1, 1) */
  ATTEST_SINK_ZERO = 2    /* the logit is 0, there is no tensor ("off by one") */
};

/* Out of a row that sees no key and has no sink. */
enum {
  ATTEST_EMPTY_ZERO = 0,   /* exactly 0 */
  ATTEST_EMPTY_REJECT = 1, /* the call returns ATTEST_ALL_MASKED_ROW and names the first one */
  ATTEST_EMPTY_NAN = 2,
  ATTEST_EMPTY_MEAN = 3, /* of v over all keys of the batch member */
  ATTEST_EMPTY_ANY = 4   /* not looked at */
};

enum {
  ATTEST_LSE_NONE = 0, /* there is no lse tensor */
  ATTEST_LSE_LN = 1,
  ATTEST_LSE_LOG2 = 2,   /* ATTEST_LSE_LN divided by ln 2 */
  ATTEST_LSE_MAX_SUM = 3 /* two columns: max, and sum of exp(s - max) */
};

/* Order of the axes in memory, for kernels that need to know; strides say all that matters. */
enum {
  ATTEST_LAYOUT_BSHD = 0,
  ATTEST_LAYOUT_BHSD = 1,
  ATTEST_LAYOUT_SBHD = 2,
  ATTEST_LAYOUT_THD = 3
};

/* Where key j of batch member b lies. */
enum {
  ATTEST_KV_ROWS = 0,     /* row key_row_begin[b] + j */
  ATTEST_KV_LEFT_PAD = 1, /* the same; key_row_begin[b] = seq_kv - key_lengths[b] */
  ATTEST_KV_PAGED = 2     /* slot j mod page_size of page
                             page_table[b * page_table_columns + j / page_size] */
};

/* Bits of attest_problem.gradients; dq, dk and dv are always asked for by `backward`. */
enum { ATTEST_GRADIENT_DBIAS = 1, ATTEST_GRADIENT_DSINK = 2, ATTEST_GRADIENT_DLSE = 4 };

/* Every fact of a problem, resolved: defaults are filled in, alignments are numbers. */
typedef struct attest_problem {
  uint64_t size;
  const char* text; /* the canonical problem text (docs: attest explain), for messages */

  int64_t batch;
  int64_t heads_q;
  int64_t heads_kv; /* divides heads_q: query head h reads kv head h / (heads_q / heads_kv) */
  int64_t seq_q;    /* the longest query length */
  int64_t seq_kv;   /* the longest key length */
  int64_t head_dim;
  int64_t head_dim_v;
  const int64_t* query_lengths; /* batch numbers; never null */
  const int64_t* key_lengths;   /* batch numbers; never null */

  int32_t dtype_q;
  int32_t dtype_k;
  int32_t dtype_v;
  int32_t dtype_out;
  int32_t
      dtype_compute;  /* ATTEST_F64 iff one of q, k, v is; type of lse, sink and their gradients */
  int32_t dtype_bias; /* ATTEST_DTYPE_UNSAID: there is no bias */

  double scale;   /* rounded to dtype_compute */
  double softcap; /* 0: none */
  int32_t before_softcap;
  int32_t bias_axes;

  int32_t mask; /* bits ATTEST_MASK_...; 0: every key is visible */
  int32_t alignment;
  const int64_t* diagonal; /* batch numbers: p = query + diagonal[b]; never null */
  int64_t window_left;     /* inclusive, self not counted */
  int64_t window_right;
  int64_t keep_first; /* 0: none */
  int64_t prefix;     /* 0: none */
  int64_t chunk;
  const int64_t* segments_q; /* seq_q numbers */
  const int64_t* segments_k; /* seq_kv numbers */
  const uint8_t* bits;       /* one byte a pair, 0 or 1, rows x columns */
  int64_t bits_rows;         /* seq_q, or 1: the same row for every query */
  int64_t bits_columns;      /* seq_kv */
  const uint8_t* blocks;     /* one byte a block, 0 or 1 */
  int64_t block_q;
  int64_t block_kv;
  int64_t block_rows;
  int64_t block_columns;
  const double* additive;
  int64_t additive_rows; /* seq_q, or 1 */
  int64_t additive_columns;

  int32_t alibi;
  int32_t sink;
  const double* alibi_slopes;    /* heads_q f32 numbers; null: no alibi */
  const int64_t* alibi_diagonal; /* batch numbers; null: no alibi */
  int32_t sink_in_lse;           /* whether the lse counts the sink */
  int32_t qv;                    /* 1: there is a tensor qv, see x(i, j) above */
  int32_t v_is_k_view;           /* 1: v(j, c) = k(j, c), in the same memory */

  int32_t all_masked;     /* ATTEST_EMPTY_... */
  double empty_lse;       /* lse of a row with no visible key and no sink, in the unit of `lse` */
  int32_t empty_lse_any;  /* 1: that lse is not looked at */
  int32_t lse;            /* ATTEST_LSE_... */
  int32_t gradients;      /* bits; 0: none beside dq, dk and dv */
  int32_t asks_gradients; /* 1: a backward call belongs to this problem */

  /* Factors q = descale_q * stored, one a (batch, kv head), batch-major; null: no descales. */
  const double* descale_q;
  const double* descale_k;
  const double* descale_v;

  int32_t layout;
  int32_t kv;
  /* First and third index of the first row of a batch member in stored tensors; never null. Without
   * ATTEST_HAS_PACKED_ROWS and so on they are b and 0. */
  const int64_t* query_batch;
  const int64_t* query_row_begin;
  const int64_t* key_batch;
  const int64_t* key_row_begin;
  int64_t page_size;
  int64_t pages;
  const int64_t* page_table; /* null unless kv is ATTEST_KV_PAGED; unused entries are -1 */
  int64_t page_table_columns;
} attest_problem;

/* How the call is cut: never what is computed. A kernel with its own way may ignore it. */
typedef struct attest_tiling {
  uint64_t size;
  int64_t tile_q;
  int64_t tile_kv;
  int64_t splits;              /* at least 1; contiguous ranges of keys, some may be empty */
  const int64_t* split_bounds; /* splits + 1 numbers, from 0 to seq_kv */
  /* Postfix trees: a number >= 0 is a leaf, -1 joins the two subtrees before it. Null where the
   * tiling has no tree over so many leaves. */
  const int64_t* merge_splits; /* leaves: the splits */
  int64_t merge_splits_count;  /* of steps */
  const int64_t* merge_tiles;  /* leaves: the tiles of all splits in order, an empty split has one;
                                  null unless the kernel declares ATTEST_SCOPE_TILE */
  int64_t merge_tiles_count;
} attest_tiling;

/* Tensors that the problem does not have are null. */
typedef struct attest_forward_tensors {
  uint64_t size;
  const attest_tensor* q;
  const attest_tensor* k;
  const attest_tensor* v;
  const attest_tensor* out; /* written completely */
  const attest_tensor* lse; /* written completely */
  /* Extents (batch, heads_q, seq_q, seq_kv), with strides of 0 along the axes it does not have. */
  const attest_tensor* bias;
  const attest_tensor* sink;
  const attest_tensor* qv;
} attest_forward_tensors;

/* dq, dk, dv have the types and places of q, k, v; slots of k and v that hold no key get nothing.
 * dbias has the extents of the bias, 1 along the axes that it does not have, and dtype_compute. */
typedef struct attest_backward_tensors {
  uint64_t size;
  const attest_tensor* q;
  const attest_tensor* k;
  const attest_tensor* v;
  const attest_tensor* out;
  const attest_tensor* lse; /* natural */
  const attest_tensor* dout;
  const attest_tensor* dlse; /* null: no gradient arrives at the lse */
  const attest_tensor* bias;
  const attest_tensor* sink;
  const attest_tensor* dq; /* written completely, as all below */
  const attest_tensor* dk;
  const attest_tensor* dv;
  const attest_tensor* dbias;
  const attest_tensor* dsink;
} attest_backward_tensors;

/* Text for people, given by the caller. */
typedef struct attest_message {
  uint64_t size;
  char* text; /* the kernel writes a string that ends with 0 here; empty at first */
  uint64_t capacity;
  int64_t row[3]; /* batch, query head, query of ATTEST_ALL_MASKED_ROW; -1 at first */
} attest_message;

/* ---- Description --------------------------------------------------------------------------- */

/* Bits of attest_description.features. Without its bit, a call that needs it is not made. */
#define ATTEST_HAS_WINDOW ATTEST_BIT(0)
#define ATTEST_HAS_KEEP_FIRST ATTEST_BIT(1)
#define ATTEST_HAS_PREFIX ATTEST_BIT(2)
#define ATTEST_HAS_CHUNK ATTEST_BIT(3)
#define ATTEST_HAS_SEGMENTS ATTEST_BIT(4)
#define ATTEST_HAS_BLOCK_MASK ATTEST_BIT(5)
#define ATTEST_HAS_ADDITIVE_MASK ATTEST_BIT(6)
#define ATTEST_HAS_SOFTCAP ATTEST_BIT(7)
#define ATTEST_HAS_SCORE_ORDER ATTEST_BIT(8) /* additions before the softcap */
#define ATTEST_HAS_BIAS ATTEST_BIT(9)
#define ATTEST_HAS_ALIBI ATTEST_BIT(10)
#define ATTEST_HAS_SINK ATTEST_BIT(11)
#define ATTEST_HAS_QV ATTEST_BIT(12)
#define ATTEST_HAS_V_IS_K_VIEW ATTEST_BIT(13)
#define ATTEST_HAS_DESCALES ATTEST_BIT(14)
#define ATTEST_HAS_MIXED_DTYPES ATTEST_BIT(15)
#define ATTEST_HAS_OUT_DTYPE ATTEST_BIT(16) /* out of another type than q */
#define ATTEST_HAS_QUERY_LENGTHS ATTEST_BIT(17)
#define ATTEST_HAS_LEFT_PADDING ATTEST_BIT(18)
#define ATTEST_HAS_PAGED ATTEST_BIT(19)
#define ATTEST_HAS_PACKED_ROWS ATTEST_BIT(20) /* ATTEST_LAYOUT_THD */
#define ATTEST_HAS_LSE_LOG2 ATTEST_BIT(21)    /* beside the natural one; else see lse_base */
#define ATTEST_HAS_LSE_MAX_SUM ATTEST_BIT(22)
#define ATTEST_HAS_EMPTY_NAN ATTEST_BIT(23)
#define ATTEST_HAS_EMPTY_MEAN ATTEST_BIT(24)
#define ATTEST_HAS_EMPTY_LSE ATTEST_BIT(25) /* any attest_problem.empty_lse */
#define ATTEST_HAS_BACKWARD ATTEST_BIT(26)
#define ATTEST_HAS_DBIAS ATTEST_BIT(27)
#define ATTEST_HAS_DSINK ATTEST_BIT(28)
#define ATTEST_HAS_DLSE ATTEST_BIT(29)
#define ATTEST_HAS_CAUSAL ATTEST_BIT(40)
#define ATTEST_HAS_LSE ATTEST_BIT(41)           /* writes an lse when asked */
#define ATTEST_HAS_GROUPED_HEADS ATTEST_BIT(42) /* heads_kv < heads_q */
#define ATTEST_HAS_KEY_LENGTHS ATTEST_BIT(43)
#define ATTEST_HAS_MASK_BITS ATTEST_BIT(44)
#define ATTEST_HAS_REJECT ATTEST_BIT(45)    /* ATTEST_EMPTY_REJECT; every kernel has .._ZERO */
#define ATTEST_HAS_TILES ATTEST_BIT(46)     /* works by attest_tiling.tile_kv */
#define ATTEST_HAS_KV_SPLITS ATTEST_BIT(47) /* works by attest_tiling.split_bounds and trees */
#define ATTEST_HAS_THREADS ATTEST_BIT(48)   /* set_threads has an effect */
#define ATTEST_HAS_STRIDES                                             \
  ATTEST_BIT(49) /* any strides; without it only tensors whose columns \
                    are next to each other (strides[3] == 1) */
#define ATTEST_HAS_PARALLEL_CALLS ATTEST_BIT(50) /* several threads may call it at once */

/* Formats of arithmetic: the numbers of ATTEST_F32 ..., and: */
enum { ATTEST_FORMAT_UNSAID = 0, ATTEST_TF32 = 7 };

enum {
  ATTEST_ROUNDING_UNSAID = 0, /* to one of the two neighbours: truncation, too */
  ATTEST_ROUNDING_NEAREST = 1
};

enum {
  ATTEST_UNDERFLOW_UNSAID = 0, /* as FLUSH_ALL */
  ATTEST_UNDERFLOW_GRADUAL = 1,
  ATTEST_UNDERFLOW_FLUSH_RESULTS = 2,
  ATTEST_UNDERFLOW_FLUSH_ALL = 3 /* subnormal results and inputs count as 0 */
};

enum {
  ATTEST_EXP_UNSAID = 0,    /* either; natural where a softcap or an addition changes scores, for
                               which the folded form has no bound */
  ATTEST_EXP_NATURAL = 1,   /* exp(s - max) */
  ATTEST_EXP_FOLDED_TWO = 2 /* exp2(fma(q.k, c, -max' c)), c = scale log2(e) */
};

/* What shares one running (max, sum, numerator), and is rescaled as the maximum rises. */
enum {
  ATTEST_SCOPE_UNSAID = 0, /* any tiles, splits, order of keys and tree of merges */
  ATTEST_SCOPE_ROW = 1,    /* the maximum of the row is known first: no rescales */
  ATTEST_SCOPE_SPLIT = 2, /* one a kv split, rescaled tile by tile; splits are merged by the tree */
  ATTEST_SCOPE_TILE = 3   /* one a tile, merged by the tree */
};

enum {
  ATTEST_SUMS_UNSAID = 0 /* in any order or tree */,
  ATTEST_SUMS_ORDERED = 1 /* key by key */
};

/* What the kernel states about its own arithmetic; the error bound follows from this and from the
 * problem. An absent member means what holds for an ordinary kernel that accumulates in f32 (in f64
 * where dtype_compute is that), so saying nothing is true, and saying more makes the check sharper.
 * ULP: spacing of the accumulators' format at the result. 0.5 is correct rounding to nearest. */
typedef struct attest_accuracy {
  uint64_t size;
  int32_t accumulators; /* format of sums and of all else, at most dtype_compute; absent: that */
  int32_t rounding;     /* of that format */
  int32_t dot_accumulators; /* of q.k; absent: as accumulators */
  int32_t scaled_query;     /* format to which q * scale is rounded before the dot product; absent:
                               the query is not rounded */
  int32_t weights;          /* format to which exp(s - max) is rounded before it multiplies v (P);
                               absent: dtype_v. No rounding: the format of the accumulators */
  int32_t weights_log2;     /* weights are multiplied by 2^this before that; absent: 0 */
  int32_t sums_rounded;     /* 1: row_sum adds the rounded weights; absent: the unrounded ones */
  int32_t underflow;        /* ATTEST_UNDERFLOW_... */
  int32_t exp_form;         /* ATTEST_EXP_... */
  int32_t scope;            /* ATTEST_SCOPE_... */
  int32_t ordered_sums;     /* ATTEST_SUMS_... */
  int32_t unused;           /* 0 */
  int64_t dot_roundings;    /* on the longest path from q, k to a score; absent: head_dim + 3
                               (+ head_dim_v with qv; + 2 with descales) */
  int64_t own_tile_kv; /* with ATTEST_SCOPE_SPLIT. Kernels that take tiles and splits of the call:
                          where tile_kv is larger, tiles have this many keys; absent: never. Others:
                          keys of a tile of their own, taken in ascending order; absent: any */
  double lag_log2;     /* a rise of the maximum by at most 2^this is not taken over (lazy
                          rescaling); absent: 0 */
  double exp_ulp;      /* absent: 4 */
  double log_ulp;      /* absent: 4, and 2^-22 beside it (2^-50 in f64) near ln(1) */
  double tanh_ulp;     /* of softcap; absent: relative 2^-10, as of tanh.approx.f32; 8 in f64 */
  double division_ulp; /* of numerator / row_sum; absent: 4 */
  double alibi_ulp;    /* of the ALiBi term; absent: 4 */
  double descale_ulp;  /* of descale_v * v as the kernel reads it; absent: 2 */
  /* Of the backward pass. */
  int32_t gradient_weights; /* format of P before it multiplies dout; absent: dtype_q */
  int32_t score_gradients;  /* format of dS before it multiplies q and k; absent: dtype_q */
} attest_accuracy;

enum { ATTEST_BASE_NATURAL = 0, ATTEST_BASE_TWO = 1 };
enum { ATTEST_EMPTY_LSE_MINUS_INFINITY = 0, ATTEST_EMPTY_LSE_PLUS_INFINITY = 1 };

/* Whose bits, of out and lse, do not depend on how a call is cut. */
enum {
  ATTEST_REPRODUCIBLE_NO = 0,
  ATTEST_REPRODUCIBLE_SPLITS = 1, /* not on splits at multiples of `leaf`, merge order, tile size */
  ATTEST_REPRODUCIBLE_ANY_ORDER = 2 /* nor on the order of the keys */
};

/* Parts of a row that `partial` hands out and `merge` takes. */
enum {
  ATTEST_PART_OUT_LSE = 0, /* out: normalised; lse: one column, in the base of `lse_base` */
  ATTEST_PART_SUMMARY = 1  /* out: numerator; lse: two columns, max and row_sum */
};

/* Text ends with 0 within its array. */
typedef struct attest_description {
  uint64_t size;
  char name[64];        /* letters, digits and _ - . : + / */
  char version[64];     /* empty: not said */
  char summary[256];    /* one sentence: the algorithm; empty: not said */
  uint64_t dtypes;      /* ATTEST_BIT(ATTEST_F32) | ... of q, k and v; at least one */
  uint64_t features;    /* ATTEST_HAS_...; 0: full masks and equal heads, out only */
  int32_t lse_base;     /* of the lse where only one base is known; absent: natural */
  int32_t empty_lse;    /* of a row without visible keys; absent: -inf */
  int32_t reproducible; /* absent: no */
  int32_t part_form;    /* absent: (out, lse) */
  int64_t leaf;         /* for ATTEST_REPRODUCIBLE_SPLITS; absent: 1 */
  int64_t tile_q;       /* preferred sizes; absent: the harness chooses */
  int64_t tile_kv;
  int64_t splits;
  const attest_accuracy* accuracy; /* null: every member is absent */
} attest_description;

/* ---- Functions ----------------------------------------------------------------------------- */

/* A part of rows over some keys, in the declared part_form; type dtype_compute. Where no key was
 * seen: lse is the declared empty one (summary: max -inf, row_sum 0), out is not looked at. */
typedef struct attest_part {
  uint64_t size;
  const attest_tensor* out;
  const attest_tensor* lse;
} attest_part;

typedef struct attest_kernel_table {
  uint64_t size;
  uint32_t abi_version; /* ATTEST_ABI_VERSION */
  uint32_t unused;      /* 0 */

  /* Never null; the same answer every time, valid until the library is closed. */
  const attest_description* (*describe)(void);

  /* Writes out and lse. Never null. */
  int (*forward)(const attest_problem* problem, const attest_tiling* tiling,
                 const attest_forward_tensors* tensors, attest_message* message);

  /* Writes the gradients. Null: without ATTEST_HAS_BACKWARD. */
  int (*backward)(const attest_problem* problem, const attest_tiling* tiling,
                  const attest_backward_tensors* tensors, attest_message* message);

  /* Writes the part over the keys [key_begin, key_end) to `part`; out and lse of `tensors` are
   * null. Called with ATTEST_PART_SUMMARY only: parts (out, lse) come from forward on some of the
   * keys. Null: one key is then max = score, row_sum = 1, numerator = v. */
  int (*partial)(const attest_problem* problem, const attest_tiling* tiling, int64_t key_begin,
                 int64_t key_end, const attest_forward_tensors* tensors, const attest_part* part,
                 attest_message* message);

  /* Joins parts over disjoint keys; `part` is neither of the two. An lse that no part of the
   * declared form has (an infinity of the other sign, NaN) is refused with ATTEST_FAILED. Null: the
   * kernel merges nothing that can be tested alone; the laws of merges are then skipped. */
  int (*merge)(const attest_problem* problem, const attest_part* left, const attest_part* right,
               const attest_part* part, attest_message* message);

  /* Threads of every call that begins from now on, at least 1. Null: the kernel uses one, or as
   * many as it likes. */
  void (*set_threads)(int32_t count);

  /* Fills in what it states for one problem; *accuracy holds that of the description. Null: the
   * description holds for every problem. Size is that of the caller. */
  int (*accuracy)(const attest_problem* problem, attest_accuracy* accuracy);
} attest_kernel_table;

/* The type of the exported function. Never returns null. */
typedef const attest_kernel_table* attest_kernel_function(void);

ATTEST_EXPORT const attest_kernel_table* attest_kernel(void);

/* ---- Where rows lie ------------------------------------------------------------------------ */

/* Elements from the first one of q, out, lse, qv (and of their gradients) to column 0 of a row. */
static inline int64_t attest_query_row(const attest_problem* problem, const attest_tensor* tensor,
                                       int64_t b, int64_t head, int64_t query) {
  return problem->query_batch[b] * tensor->strides[0] + head * tensor->strides[1] +
         (problem->query_row_begin[b] + query) * tensor->strides[2];
}

/* The same for k and v; `head` is a kv head. */
static inline int64_t attest_key_row(const attest_problem* problem, const attest_tensor* tensor,
                                     int64_t b, int64_t head, int64_t key) {
  int64_t first = problem->key_batch[b];
  int64_t row = problem->key_row_begin[b] + key;
  if (problem->kv == ATTEST_KV_PAGED) {
    first = problem->page_table[b * problem->page_table_columns + key / problem->page_size];
    row = key % problem->page_size;
  }
  return first * tensor->strides[0] + head * tensor->strides[1] + row * tensor->strides[2];
}

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* ATTEST_KERNEL_ABI_H */
