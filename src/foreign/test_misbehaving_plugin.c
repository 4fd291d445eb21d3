/* A plug-in that is right for every problem but those of 5 keys: there each symbol does what no
 * kernel may do. `attest_kernel` itself is right for all, and so is `kernel_with_left_padding`. */
#include <fenv.h>
#include <stdio.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "../../examples/plugin_c/attention.c"

static int64_t span(const attest_tensor* tensor) {
  int64_t last = 0;
  for (int axis = 0; axis < 4; ++axis) last += (tensor->extents[axis] - 1) * tensor->strides[axis];
  return (last + 1) * (tensor->dtype == ATTEST_F64 ? 8 : 4);
}

static char* bytes(const attest_tensor* tensor) {
  return (char*)tensor->data;
}

static volatile char seen;
static volatile int always = 1;

static int segfaults(const attest_forward_tensors* t) {
  *(volatile int*)(uintptr_t)(t->q->size - t->q->size + 8) = 1;
  return ATTEST_OK;
}
static int aborts(const attest_forward_tensors* t) {
  (void)t;
  abort();
}
static int exits(const attest_forward_tensors* t) {
  (void)t;
  exit(3);
}
static int hangs(const attest_forward_tensors* t) {
  (void)t;
  while (always) usleep(1000);
  return ATTEST_OK;
}
static int eats_memory(const attest_forward_tensors* t) {
  (void)t;
  const size_t some = (size_t)16 << 20;
  while (always) memset(malloc(some), 1, some);
  return ATTEST_OK;
}
static int recurses(const attest_forward_tensors* t) {
  volatile char frame[4096];
  frame[0] = seen;
  const int code = always ? recurses(t) : ATTEST_OK;
  seen = frame[0];
  return code;
}
static int prints(const attest_forward_tensors* t) {
  (void)t;
  printf("hello world\n");
  return ATTEST_OK;
}
static int prints_without_end(const attest_forward_tensors* t) {
  (void)t;
  for (int line = 0; line < 100000; ++line) printf("ATP1 this is no frame %d\n", line);
  return ATTEST_OK;
}
static int writes_past_the_end(const attest_forward_tensors* t) {
  bytes(t->out)[span(t->out)] = 0;
  return ATTEST_OK;
}
static int writes_far_past_the_end(const attest_forward_tensors* t) {
  bytes(t->out)[span(t->out) + 64] = 0;
  return ATTEST_OK;
}
static int writes_before_the_beginning(const attest_forward_tensors* t) {
  bytes(t->out)[-1] = 0;
  return ATTEST_OK;
}
static int reads_past_the_end(const attest_forward_tensors* t) {
  seen = bytes(t->q)[span(t->q) + 64];
  return ATTEST_OK;
}
/* Reads one element by an offset of 32 bits: right wherever tensors are small. */
static int wraps_offsets(const attest_forward_tensors* t) {
  const float* const q = (const float*)t->q->data;
  const int64_t last = span(t->q) / 4 - 1;
  ((float*)t->out->data)[span(t->out) / 4 - 1] += q[(uint32_t)last] - q[last];
  return ATTEST_OK;
}
static int changes_an_input(const attest_forward_tensors* t) {
  bytes(t->k)[0] ^= 1;
  return ATTEST_OK;
}
static int changes_the_rounding(const attest_forward_tensors* t) {
  (void)t;
  fesetround(FE_UPWARD);
  return ATTEST_OK;
}
static int flushes_to_zero(const attest_forward_tensors* t) {
  (void)t;
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8000);
#endif
  return ATTEST_OK;
}
static int returns_nonsense(const attest_forward_tensors* t) {
  (void)t;
  return 77;
}

typedef int misdeed(const attest_forward_tensors* t);

static int forward_but(misdeed* misbehave, const attest_problem* p, const attest_tiling* tiling,
                       const attest_forward_tensors* t, attest_message* message) {
  const int code = forward(p, tiling, t, message);
  return p->seq_kv == 5 ? misbehave(t) : code;
}

#define MISDEED(NAME)                                                                   \
  static int forward_##NAME(const attest_problem* p, const attest_tiling* tiling,       \
                            const attest_forward_tensors* t, attest_message* message) { \
    return forward_but(NAME, p, tiling, t, message);                                    \
  }                                                                                     \
  ATTEST_EXPORT const attest_kernel_table* kernel_that_##NAME(void);                    \
  const attest_kernel_table* kernel_that_##NAME(void) {                                 \
    static attest_kernel_table table;                                                   \
    table = *attest_kernel();                                                           \
    table.forward = forward_##NAME;                                                     \
    return &table;                                                                      \
  }

MISDEED(segfaults)
MISDEED(aborts)
MISDEED(exits)
MISDEED(hangs)
MISDEED(eats_memory)
MISDEED(recurses)
MISDEED(prints)
MISDEED(prints_without_end)
MISDEED(writes_past_the_end)
MISDEED(writes_far_past_the_end)
MISDEED(writes_before_the_beginning)
MISDEED(reads_past_the_end)
MISDEED(wraps_offsets)
MISDEED(changes_an_input)
MISDEED(changes_the_rounding)
MISDEED(flushes_to_zero)
MISDEED(returns_nonsense)

/* Rows are found by attest_key_row, wherever they lie. */
static const attest_description* describe_left_padding(void) {
  static attest_description more;
  more = description;
  more.features |= ATTEST_HAS_LEFT_PADDING;
  return &more;
}

ATTEST_EXPORT const attest_kernel_table* kernel_with_left_padding(void);
const attest_kernel_table* kernel_with_left_padding(void) {
  static attest_kernel_table table;
  table = *attest_kernel();
  table.describe = describe_left_padding;
  return &table;
}

/* Reads the keys of the first row on, as if they had no padding. */
static int forward_from_the_first_row(const attest_problem* p, const attest_tiling* tiling,
                                      const attest_forward_tensors* t, attest_message* message) {
  attest_problem unpadded = *p;
  int64_t* const from_the_first = calloc((size_t)p->batch + 1, sizeof *from_the_first);
  unpadded.key_row_begin = from_the_first;
  const int code = forward(&unpadded, tiling, t, message);
  free(from_the_first);
  return code;
}

ATTEST_EXPORT const attest_kernel_table* kernel_that_ignores_left_padding(void);
const attest_kernel_table* kernel_that_ignores_left_padding(void) {
  static attest_kernel_table table;
  table = *kernel_with_left_padding();
  table.forward = forward_from_the_first_row;
  return &table;
}
