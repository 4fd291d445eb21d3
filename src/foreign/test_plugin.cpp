// Plug-ins that tests open, one an exported function: right in form and wrong in one point each.
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "attest/kernel_abi.h"

namespace {

int thread_calls = 0;

attest_description named(std::string_view name) {
  attest_description description{};
  description.size = sizeof description;
  name.copy(description.name, sizeof description.name - 1);
  description.dtypes = ATTEST_BIT(ATTEST_F32);
  return description;
}

const attest_description* describe() {
  static const attest_description description = [] {
    attest_description d = named("by_head_dim");
    d.features = ATTEST_HAS_REJECT | ATTEST_HAS_LSE;
    return d;
  }();
  return &description;
}

void say(attest_message* message, std::string_view text) {
  text.copy(message->text, message->capacity);
}

/// What it does is chosen by head_dim.
int forward(const attest_problem* problem, const attest_tiling* tiling,
            const attest_forward_tensors* tensors, attest_message* message) {
  auto* const out = static_cast<float*>(tensors->out->data);
  switch (problem->head_dim) {
    case 1:  // facts of the call
      out[0] = static_cast<float>(tiling->splits);
      return ATTEST_OK;
    case 2:
      say(message, "not this one");
      return ATTEST_UNSUPPORTED;
    case 3:
      say(message, "line one\nline two \x01 end");
      return ATTEST_FAILED;
    case 4:
      return 99;
    case 5:
      throw std::runtime_error("thrown on purpose");
    case 6:
      throw 6;
    case 7:
      message->row[0] = 0;
      message->row[1] = 0;
      message->row[2] = 1;
      return ATTEST_ALL_MASKED_ROW;
    case 8:
      message->row[2] = 1000;
      return ATTEST_ALL_MASKED_ROW;
    case 9:  // no end within the buffer
      std::memset(message->text, 'x', message->capacity);
      return ATTEST_FAILED;
    case 10:
      out[0] = static_cast<float>(thread_calls);
      return ATTEST_OK;
    default:
      return ATTEST_FAILED;
  }
}

/// Parts of f32: one row, `lse` has one or two columns.
float* out_of(const attest_part& part) {
  return static_cast<float*>(part.out->data);
}
float* lse_of(const attest_part& part) {
  return static_cast<float*>(part.lse->data);
}

/// Parts (numerator, max, row_sum), both relative to a maximum.
int merge_summaries(const attest_problem* problem, const attest_part* left,
                    const attest_part* right, const attest_part* part, attest_message*) {
  const float max = std::fmax(lse_of(*left)[0], lse_of(*right)[0]);
  const auto factor_of = [&](const attest_part& from) {
    return lse_of(from)[1] == 0 ? 0.0F : std::exp(lse_of(from)[0] - max);
  };
  const float l = factor_of(*left);
  const float r = factor_of(*right);
  lse_of(*part)[0] = max;
  lse_of(*part)[1] = l * lse_of(*left)[1] + r * lse_of(*right)[1];
  for (int64_t c = 0; c < problem->head_dim_v; ++c)
    out_of(*part)[c] = l * out_of(*left)[c] + r * out_of(*right)[c];
  return ATTEST_OK;
}

/// One key whose score is k.
int partial_of_one_key(const attest_problem* problem, const attest_tiling*, int64_t key_begin,
                       int64_t, const attest_forward_tensors* tensors, const attest_part* part,
                       attest_message*) {
  lse_of(*part)[0] = static_cast<const float*>(tensors->k->data)[key_begin];
  lse_of(*part)[1] = 1;
  for (int64_t c = 0; c < problem->head_dim_v; ++c)
    out_of(*part)[c] = static_cast<const float*>(tensors->v->data)[c];
  return ATTEST_OK;
}

/// Parts (out, lse) of which the left one always wins; says no to a left lse of 7.
int left_wins(const attest_problem* problem, const attest_part* left, const attest_part*,
              const attest_part* part, attest_message* message) {
  if (lse_of(*left)[0] == 7) {
    say(message, "seven");
    return ATTEST_FAILED;
  }
  lse_of(*part)[0] = lse_of(*left)[0];
  for (int64_t c = 0; c < problem->head_dim_v; ++c) out_of(*part)[c] = out_of(*left)[c];
  return ATTEST_OK;
}

attest_kernel_table table_of(const attest_description* (*describes)()) {
  attest_kernel_table table{};
  table.size = sizeof table;
  table.abi_version = ATTEST_ABI_VERSION;
  table.describe = describes;
  table.forward = forward;
  table.set_threads = [](int32_t count) { thread_calls = thread_calls * 100 + count; };
  return table;
}

}  // namespace

extern "C" {

ATTEST_EXPORT const attest_kernel_table* attest_kernel() {
  static const attest_kernel_table table = table_of(describe);
  return &table;
}

ATTEST_EXPORT const attest_kernel_table* no_table() {
  return nullptr;
}

ATTEST_EXPORT const attest_kernel_table* table_that_throws() {
  throw std::runtime_error("no table");
}

ATTEST_EXPORT const attest_kernel_table* later_version() {
  static const attest_kernel_table table = [] {
    attest_kernel_table t = table_of(describe);
    t.abi_version = 7;
    return t;
  }();
  return &table;
}

ATTEST_EXPORT const attest_kernel_table* no_description() {
  static const attest_kernel_table table =
      table_of([]() -> const attest_description* { return nullptr; });
  return &table;
}

ATTEST_EXPORT const attest_kernel_table* description_that_throws() {
  static const attest_kernel_table table = table_of([]() -> const attest_description* { throw 1; });
  return &table;
}

ATTEST_EXPORT const attest_kernel_table* backward_is_missing() {
  static const attest_kernel_table table = table_of([]() -> const attest_description* {
    static const attest_description description = [] {
      attest_description d = named("backward_is_missing");
      d.features = ATTEST_HAS_BACKWARD;
      return d;
    }();
    return &description;
  });
  return &table;
}

/// Written against a first version that had nothing after `forward`.
ATTEST_EXPORT const attest_kernel_table* older_table() {
  static const attest_kernel_table table = [] {
    attest_kernel_table t = table_of(describe);
    t.size = offsetof(attest_kernel_table, backward);
    t.set_threads = reinterpret_cast<void (*)(int32_t)>(1);  // not a part of it
    return t;
  }();
  return &table;
}

/// States an accuracy that no arithmetic has, for head_dim 1.
ATTEST_EXPORT const attest_kernel_table* states_nonsense() {
  static const attest_kernel_table table = [] {
    attest_kernel_table t = table_of(describe);
    t.accuracy = [](const attest_problem* problem, attest_accuracy* accuracy) -> int {
      accuracy->exp_ulp = problem->head_dim == 1 ? std::nan("") : 3;
      return ATTEST_OK;
    };
    return t;
  }();
  return &table;
}

ATTEST_EXPORT const attest_kernel_table* summary_parts() {
  static const attest_kernel_table table = [] {
    attest_kernel_table t = table_of([]() -> const attest_description* {
      static const attest_description description = [] {
        attest_description d = named("summary_parts");
        d.part_form = ATTEST_PART_SUMMARY;
        return d;
      }();
      return &description;
    });
    t.merge = merge_summaries;
    t.partial = partial_of_one_key;
    return t;
  }();
  return &table;
}

/// Empty parts have an lse of +inf.
ATTEST_EXPORT const attest_kernel_table* left_part_wins() {
  static const attest_kernel_table table = [] {
    attest_kernel_table t = table_of([]() -> const attest_description* {
      static const attest_description description = [] {
        attest_description d = named("left_part_wins");
        d.empty_lse = ATTEST_EMPTY_LSE_PLUS_INFINITY;
        return d;
      }();
      return &description;
    });
    t.merge = left_wins;
    return t;
  }();
  return &table;
}
}
