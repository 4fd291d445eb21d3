// The enumerators and bits of attest/kernel_abi.h as words, in both directions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "attest/kernel_abi.h"

namespace attest::foreign {

struct AbiWord {
  std::string_view word;
  std::uint64_t number = 0;
};

inline constexpr std::array kFormatWords{AbiWord{"f32", ATTEST_F32},   AbiWord{"f64", ATTEST_F64},
                                         AbiWord{"bf16", ATTEST_BF16}, AbiWord{"f16", ATTEST_F16},
                                         AbiWord{"e4m3", ATTEST_E4M3}, AbiWord{"e5m2", ATTEST_E5M2},
                                         AbiWord{"tf32", ATTEST_TF32}};
/// Formats that tensors can have: all but the last.
inline constexpr auto kDtypeWords = std::span(kFormatWords).first<kFormatWords.size() - 1>();
inline constexpr std::array kMaskWords{AbiWord{"causal", ATTEST_MASK_CAUSAL},
                                       AbiWord{"window_left", ATTEST_MASK_WINDOW_LEFT},
                                       AbiWord{"window_right", ATTEST_MASK_WINDOW_RIGHT},
                                       AbiWord{"chunk", ATTEST_MASK_CHUNK},
                                       AbiWord{"segments", ATTEST_MASK_SEGMENTS},
                                       AbiWord{"bits", ATTEST_MASK_BITS},
                                       AbiWord{"blocks", ATTEST_MASK_BLOCKS},
                                       AbiWord{"additive", ATTEST_MASK_ADDITIVE}};
inline constexpr std::array kBeforeWords{AbiWord{"bias", ATTEST_BEFORE_BIAS},
                                         AbiWord{"alibi", ATTEST_BEFORE_ALIBI},
                                         AbiWord{"additive", ATTEST_BEFORE_ADDITIVE}};
inline constexpr std::array kAlibiWords{AbiWord{"absolute", ATTEST_ALIBI_ABSOLUTE},
                                        AbiWord{"relative", ATTEST_ALIBI_RELATIVE},
                                        AbiWord{"column", ATTEST_ALIBI_COLUMN}};
inline constexpr std::array kSinkWords{AbiWord{"tensor", ATTEST_SINK_TENSOR},
                                       AbiWord{"zero", ATTEST_SINK_ZERO}};
inline constexpr std::array kEmptyWords{
    AbiWord{"zero", ATTEST_EMPTY_ZERO}, AbiWord{"reject", ATTEST_EMPTY_REJECT},
    AbiWord{"nan", ATTEST_EMPTY_NAN}, AbiWord{"mean", ATTEST_EMPTY_MEAN},
    AbiWord{"any", ATTEST_EMPTY_ANY}};
inline constexpr std::array kLseWords{AbiWord{"ln", ATTEST_LSE_LN},
                                      AbiWord{"log2", ATTEST_LSE_LOG2},
                                      AbiWord{"max_sum", ATTEST_LSE_MAX_SUM}};
inline constexpr std::array kLayoutWords{
    AbiWord{"bshd", ATTEST_LAYOUT_BSHD}, AbiWord{"bhsd", ATTEST_LAYOUT_BHSD},
    AbiWord{"sbhd", ATTEST_LAYOUT_SBHD}, AbiWord{"thd", ATTEST_LAYOUT_THD}};
inline constexpr std::array kKvWords{AbiWord{"rows", ATTEST_KV_ROWS},
                                     AbiWord{"left_pad", ATTEST_KV_LEFT_PAD},
                                     AbiWord{"paged", ATTEST_KV_PAGED}};
inline constexpr std::array kGradientWords{AbiWord{"dbias", ATTEST_GRADIENT_DBIAS},
                                           AbiWord{"dsink", ATTEST_GRADIENT_DSINK},
                                           AbiWord{"dlse", ATTEST_GRADIENT_DLSE}};
inline constexpr std::array kFeatureWords{AbiWord{"window", ATTEST_HAS_WINDOW},
                                          AbiWord{"keep_first", ATTEST_HAS_KEEP_FIRST},
                                          AbiWord{"prefix", ATTEST_HAS_PREFIX},
                                          AbiWord{"chunk", ATTEST_HAS_CHUNK},
                                          AbiWord{"segments", ATTEST_HAS_SEGMENTS},
                                          AbiWord{"block_mask", ATTEST_HAS_BLOCK_MASK},
                                          AbiWord{"additive_mask", ATTEST_HAS_ADDITIVE_MASK},
                                          AbiWord{"softcap", ATTEST_HAS_SOFTCAP},
                                          AbiWord{"score_order", ATTEST_HAS_SCORE_ORDER},
                                          AbiWord{"bias", ATTEST_HAS_BIAS},
                                          AbiWord{"alibi", ATTEST_HAS_ALIBI},
                                          AbiWord{"sink", ATTEST_HAS_SINK},
                                          AbiWord{"qv", ATTEST_HAS_QV},
                                          AbiWord{"v_is_k_view", ATTEST_HAS_V_IS_K_VIEW},
                                          AbiWord{"descales", ATTEST_HAS_DESCALES},
                                          AbiWord{"mixed_dtypes", ATTEST_HAS_MIXED_DTYPES},
                                          AbiWord{"out_dtype", ATTEST_HAS_OUT_DTYPE},
                                          AbiWord{"query_lengths", ATTEST_HAS_QUERY_LENGTHS},
                                          AbiWord{"left_padding", ATTEST_HAS_LEFT_PADDING},
                                          AbiWord{"paged", ATTEST_HAS_PAGED},
                                          AbiWord{"packed_rows", ATTEST_HAS_PACKED_ROWS},
                                          AbiWord{"lse_log2", ATTEST_HAS_LSE_LOG2},
                                          AbiWord{"lse_max_sum", ATTEST_HAS_LSE_MAX_SUM},
                                          AbiWord{"empty_nan", ATTEST_HAS_EMPTY_NAN},
                                          AbiWord{"empty_mean", ATTEST_HAS_EMPTY_MEAN},
                                          AbiWord{"empty_lse", ATTEST_HAS_EMPTY_LSE},
                                          AbiWord{"backward", ATTEST_HAS_BACKWARD},
                                          AbiWord{"dbias", ATTEST_HAS_DBIAS},
                                          AbiWord{"dsink", ATTEST_HAS_DSINK},
                                          AbiWord{"dlse", ATTEST_HAS_DLSE},
                                          AbiWord{"causal", ATTEST_HAS_CAUSAL},
                                          AbiWord{"lse", ATTEST_HAS_LSE},
                                          AbiWord{"grouped_heads", ATTEST_HAS_GROUPED_HEADS},
                                          AbiWord{"key_lengths", ATTEST_HAS_KEY_LENGTHS},
                                          AbiWord{"mask_bits", ATTEST_HAS_MASK_BITS},
                                          AbiWord{"reject", ATTEST_HAS_REJECT},
                                          AbiWord{"tiles", ATTEST_HAS_TILES},
                                          AbiWord{"kv_splits", ATTEST_HAS_KV_SPLITS},
                                          AbiWord{"threads", ATTEST_HAS_THREADS},
                                          AbiWord{"strides", ATTEST_HAS_STRIDES},
                                          AbiWord{"parallel_calls", ATTEST_HAS_PARALLEL_CALLS}};
inline constexpr std::array kRoundingWords{AbiWord{"nearest", ATTEST_ROUNDING_NEAREST}};
inline constexpr std::array kUnderflowWords{
    AbiWord{"gradual", ATTEST_UNDERFLOW_GRADUAL},
    AbiWord{"flush_results", ATTEST_UNDERFLOW_FLUSH_RESULTS},
    AbiWord{"flush_all", ATTEST_UNDERFLOW_FLUSH_ALL}};
inline constexpr std::array kExpWords{AbiWord{"natural", ATTEST_EXP_NATURAL},
                                      AbiWord{"folded_two", ATTEST_EXP_FOLDED_TWO}};
inline constexpr std::array kScopeWords{AbiWord{"row", ATTEST_SCOPE_ROW},
                                        AbiWord{"split", ATTEST_SCOPE_SPLIT},
                                        AbiWord{"tile", ATTEST_SCOPE_TILE}};
inline constexpr std::array kBaseWords{AbiWord{"natural", ATTEST_BASE_NATURAL},
                                       AbiWord{"two", ATTEST_BASE_TWO}};
inline constexpr std::array kEmptyLseWords{AbiWord{"-inf", ATTEST_EMPTY_LSE_MINUS_INFINITY},
                                           AbiWord{"inf", ATTEST_EMPTY_LSE_PLUS_INFINITY}};
inline constexpr std::array kReproducibleWords{AbiWord{"no", ATTEST_REPRODUCIBLE_NO},
                                               AbiWord{"splits", ATTEST_REPRODUCIBLE_SPLITS},
                                               AbiWord{"any_order", ATTEST_REPRODUCIBLE_ANY_ORDER}};
inline constexpr std::array kPartWords{AbiWord{"out_lse", ATTEST_PART_OUT_LSE},
                                       AbiWord{"summary", ATTEST_PART_SUMMARY}};

/// Empty when the number has no word.
constexpr std::string_view word_of(std::span<const AbiWord> words, std::uint64_t number) {
  for (const AbiWord& one : words)
    if (one.number == number) return one.word;
  return {};
}

constexpr std::optional<std::uint64_t> number_of(std::span<const AbiWord> words,
                                                 std::string_view word) {
  for (const AbiWord& one : words)
    if (one.word == word) return one.number;
  return std::nullopt;
}

/// Bytes of an element of a dtype; 0 for a number that is none.
constexpr std::size_t bytes_of_dtype(std::int32_t dtype) {
  switch (dtype) {
    case ATTEST_F64:
      return 8;
    case ATTEST_F32:
      return 4;
    case ATTEST_BF16:
    case ATTEST_F16:
      return 2;
    case ATTEST_E4M3:
    case ATTEST_E5M2:
      return 1;
    default:
      return 0;
  }
}

}  // namespace attest::foreign
