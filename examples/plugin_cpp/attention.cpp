// Online softmax as a plug-in of attest, in C++: attest check ./libattention.so
//
// One pass over the keys of a row with a running maximum, in float (double for f64). It knows
// causal masks, windows, key lengths and grouped heads, writes the natural lse, and merges parts
// (out, lse).
//
// PLANTED=1..4 makes it wrong on purpose: attest check must find each of them. SILENT=1 states
// nothing about its arithmetic, which must not accuse it.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "attest/kernel_abi.h"

#ifndef PLANTED
#define PLANTED 0
#endif
#ifndef SILENT
#define SILENT 0
#endif

namespace {

constexpr int kNumeratorIsNotRescaled = 1;
constexpr int kLastKeyIsLost = 2;
constexpr int kBf16IsCutOff = 3;
constexpr int kMergeForgetsTheMass = 4;

constexpr std::int64_t kSizeOfLongestRow = 1 << 20;

template <class Real>
constexpr Real kMinusInfinity = -std::numeric_limits<Real>::infinity();

/// A row of a tensor as numbers.
template <class Real>
class Row {
 public:
  Row(const attest_tensor& tensor, std::int64_t begin) : tensor_(tensor), begin_(begin) {}

  Real operator[](std::int64_t column) const {
    const std::int64_t at = begin_ + column * tensor_.strides[3];
    if (tensor_.dtype == ATTEST_F64)
      return static_cast<Real>(static_cast<const double*>(tensor_.data)[at]);
    if (tensor_.dtype == ATTEST_F32)
      return static_cast<Real>(static_cast<const float*>(tensor_.data)[at]);
    const auto half = static_cast<const std::uint16_t*>(tensor_.data)[at];
    return static_cast<Real>(std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16));
  }
  void set(std::int64_t column, Real value) const {
    const std::int64_t at = begin_ + column * tensor_.strides[3];
    if (tensor_.dtype == ATTEST_F64)
      static_cast<double*>(tensor_.data)[at] = static_cast<double>(value);
    else if (tensor_.dtype == ATTEST_F32)
      static_cast<float*>(tensor_.data)[at] = static_cast<float>(value);
    else
      static_cast<std::uint16_t*>(tensor_.data)[at] = to_bf16(static_cast<float>(value));
  }

 private:
  static std::uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return 0x7fc0;
    const std::uint32_t half = PLANTED == kBf16IsCutOff ? 0 : 0x7fff + (bits >> 16 & 1);
    return static_cast<std::uint16_t>((bits + half) >> 16);
  }

  const attest_tensor& tensor_;
  std::int64_t begin_;
};

bool visible(const attest_problem& p, std::int64_t b, std::int64_t query, std::int64_t key) {
  const std::int64_t position = query + p.diagonal[b];
  const auto has = [&](int part) { return (p.mask & part) != 0; };
  if (key >= p.key_lengths[b] - (PLANTED == kLastKeyIsLost && p.key_lengths[b] > 1 ? 1 : 0))
    return false;
  if (has(ATTEST_MASK_CAUSAL) && key > position) return false;
  if (has(ATTEST_MASK_WINDOW_LEFT) && key < position - p.window_left) return false;
  if (has(ATTEST_MASK_WINDOW_RIGHT) && key > position + p.window_right) return false;
  return !has(ATTEST_MASK_BITS) ||
         p.bits[(p.bits_rows == 1 ? 0 : query) * p.bits_columns + key] != 0;
}

/// The running summary of a row.
template <class Real>
struct Summary {
  Real max = kMinusInfinity<Real>;
  Real sum = 0;
  std::vector<Real> numerator;

  void add(Real score, const Row<Real>& value) {
    if (score == kMinusInfinity<Real>) return;
    if (!(score <= max)) {
      const Real factor = max == kMinusInfinity<Real> ? Real(0) : std::exp(max - score);
      sum *= factor;
      if (PLANTED != kNumeratorIsNotRescaled)
        for (Real& element : numerator) element *= factor;
      max = score;
    }
    const Real weight = std::exp(score - max);
    sum += weight;
    for (std::size_t c = 0; c < numerator.size(); ++c)
      numerator[c] += weight * value[static_cast<std::int64_t>(c)];
  }
};

template <class Real>
class Forward {
 public:
  Forward(const attest_problem& problem, const attest_forward_tensors& tensors)
      : p_(problem), t_(tensors) {}

  void run() {
    for (std::int64_t b = 0; b < p_.batch; ++b)
      for (std::int64_t head = 0; head < p_.heads_q; ++head)
        for (std::int64_t query = 0; query < p_.query_lengths[b]; ++query) {
          summarise(b, head, query);
          write(b, head, query);
        }
  }

 private:
  void summarise(std::int64_t b, std::int64_t head, std::int64_t query) {
    const std::int64_t kv_head = head / (p_.heads_q / p_.heads_kv);
    const Row<Real> q(*t_.q, attest_query_row(&p_, t_.q, b, head, query));
    summary_.max = kMinusInfinity<Real>;
    summary_.sum = 0;
    summary_.numerator.assign(static_cast<std::size_t>(p_.head_dim_v), Real(0));
    for (std::int64_t key = 0; key < p_.seq_kv; ++key) {
      if (!visible(p_, b, query, key)) continue;
      const Row<Real> k(*t_.k, attest_key_row(&p_, t_.k, b, kv_head, key));
      const Row<Real> v(*t_.v, attest_key_row(&p_, t_.v, b, kv_head, key));
      Real dot = 0;
      for (std::int64_t c = 0; c < p_.head_dim; ++c) dot += q[c] * k[c];
      summary_.add(dot * static_cast<Real>(p_.scale), v);
    }
  }

  void write(std::int64_t b, std::int64_t head, std::int64_t query) const {
    const bool empty = summary_.sum == 0;
    const Row<Real> out(*t_.out, attest_query_row(&p_, t_.out, b, head, query));
    for (std::int64_t c = 0; c < p_.head_dim_v; ++c)
      out.set(c, empty ? Real(0) : summary_.numerator[static_cast<std::size_t>(c)] / summary_.sum);
    if (t_.lse == nullptr) return;
    const Row<Real> lse(*t_.lse, attest_query_row(&p_, t_.lse, b, head, query));
    lse.set(0, empty ? kMinusInfinity<Real> : summary_.max + std::log(summary_.sum));
  }

  const attest_problem& p_;
  const attest_forward_tensors& t_;
  Summary<Real> summary_;
};

/// Joins rows (out, lse); one without keys has an lse of -inf.
template <class Real>
void merge_row(const attest_problem& p, const attest_part& left, const attest_part& right,
               const attest_part& part, std::int64_t row) {
  const auto lse_of = [&](const attest_part& from) {
    return Row<Real>(*from.lse, row * from.lse->strides[2]);
  };
  const auto out_of = [&](const attest_part& from) {
    return Row<Real>(*from.out, row * from.out->strides[2]);
  };
  const Real left_lse = lse_of(left)[0];
  const Real right_lse = lse_of(right)[0];
  const Real max = left_lse < right_lse ? right_lse : left_lse;
  // An empty part weighs nothing, whatever its out holds.
  const auto weight_of = [&](Real lse) {
    return lse == kMinusInfinity<Real> ? Real(0) : std::exp(lse - max);
  };
  const Real left_weight = weight_of(left_lse);
  const Real right_weight = PLANTED == kMergeForgetsTheMass ? left_weight : weight_of(right_lse);
  const Real sum = left_weight + right_weight;
  for (std::int64_t c = 0; c < p.head_dim_v; ++c) {
    Real numerator = 0;
    if (left_weight != 0) numerator += left_weight * out_of(left)[c];
    if (right_weight != 0) numerator += right_weight * out_of(right)[c];
    out_of(part).set(c, sum == 0 ? Real(0) : numerator / sum);
  }
  lse_of(part).set(0, sum == 0 ? max : max + std::log(sum));
}

/// Whether the lse of a row is one that a part of this kernel can have.
template <class Real>
bool is_part(const attest_part& part, std::int64_t row) {
  const Real lse = Row<Real>(*part.lse, row * part.lse->strides[2])[0];
  return std::isfinite(lse) || lse == kMinusInfinity<Real>;
}

// ---- The C interface: nothing may be thrown through it ----------------------------------------

void say(attest_message* message, std::string_view why) {
  message->text[why.copy(message->text, message->capacity - 1)] = 0;
}

template <class Body>
int guarded(attest_message* message, Body&& body) noexcept {
  try {
    body();
    return ATTEST_OK;
  } catch (...) {
    say(message, "out of memory");
    return ATTEST_FAILED;
  }
}

int forward(const attest_problem* problem, const attest_tiling*,
            const attest_forward_tensors* tensors, attest_message* message) noexcept {
  if (problem->seq_kv > kSizeOfLongestRow) return ATTEST_UNSUPPORTED;
  return guarded(message, [&] {
    if (problem->dtype_compute == ATTEST_F64)
      Forward<double>(*problem, *tensors).run();
    else
      Forward<float>(*problem, *tensors).run();
  });
}

template <class Real>
int merge_rows(const attest_problem& problem, const attest_part& left, const attest_part& right,
               const attest_part& part, attest_message* message) noexcept {
  for (std::int64_t row = 0; row < part.out->extents[2]; ++row) {
    if (!is_part<Real>(left, row) || !is_part<Real>(right, row)) {
      say(message, "an lse of +inf or NaN is not that of a part");
      return ATTEST_FAILED;
    }
    merge_row<Real>(problem, left, right, part, row);
  }
  return ATTEST_OK;
}

int merge(const attest_problem* problem, const attest_part* left, const attest_part* right,
          const attest_part* part, attest_message* message) noexcept {
  return problem->dtype_compute == ATTEST_F64
             ? merge_rows<double>(*problem, *left, *right, *part, message)
             : merge_rows<float>(*problem, *left, *right, *part, message);
}

const attest_accuracy& accuracy() {
  static const attest_accuracy stated = [] {
    attest_accuracy a{};
    a.size = sizeof a;
    a.rounding = ATTEST_ROUNDING_NEAREST;
    a.weights = ATTEST_F64;  // not rounded before they multiply v
    a.underflow = ATTEST_UNDERFLOW_GRADUAL;
    a.exp_form = ATTEST_EXP_NATURAL;
    a.scope = ATTEST_SCOPE_SPLIT;
    a.ordered_sums = ATTEST_SUMS_ORDERED;
    a.own_tile_kv = 1;
    a.exp_ulp = 1;  // of glibc
    a.log_ulp = 1;
    a.division_ulp = 0.5;
    return a;
  }();
  return stated;
}

const attest_description* describe() noexcept {
  static const attest_description description = [] {
    attest_description d{};
    d.size = sizeof d;
    std::string_view("online_cpp").copy(d.name, sizeof d.name - 1);
    std::string_view("1").copy(d.version, sizeof d.version - 1);
    std::string_view("one pass over the keys with a running maximum")
        .copy(d.summary, sizeof d.summary - 1);
    d.dtypes = ATTEST_BIT(ATTEST_F32) | ATTEST_BIT(ATTEST_F64) | ATTEST_BIT(ATTEST_BF16);
    d.features = ATTEST_HAS_CAUSAL | ATTEST_HAS_WINDOW | ATTEST_HAS_MASK_BITS |
                 ATTEST_HAS_KEY_LENGTHS | ATTEST_HAS_LSE | ATTEST_HAS_GROUPED_HEADS |
                 ATTEST_HAS_STRIDES | ATTEST_HAS_PARALLEL_CALLS;
    d.accuracy = SILENT ? nullptr : &accuracy();
    return d;
  }();
  return &description;
}

}  // namespace

extern "C" ATTEST_EXPORT const attest_kernel_table* attest_kernel() {
  static const attest_kernel_table table = [] {
    attest_kernel_table t{};
    t.size = sizeof t;
    t.abi_version = ATTEST_ABI_VERSION;
    t.describe = describe;
    t.forward = forward;
    t.merge = merge;
    return t;
  }();
  return &table;
}
