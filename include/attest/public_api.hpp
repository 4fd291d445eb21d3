// What other people's APIs call the conventions of a problem text.
//
// The table is data: each row translates some words of one API into keys of a problem text, and a
// test translates them back. {W} in a template is a whole number, {W-1} that number less one.
//   Hugging Face   sliding_window={W}   mask=causal:br win={W-1}:0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attest/problem.hpp"

namespace attest {

/// A question that APIs answer differently.
enum class ApiTopic { causal, window, empty_row, lse, softcap, alibi, sink };

inline constexpr std::array kApiTopics{ApiTopic::causal, ApiTopic::window,  ApiTopic::empty_row,
                                       ApiTopic::lse,    ApiTopic::softcap, ApiTopic::alibi,
                                       ApiTopic::sink};

std::string_view to_string(ApiTopic topic);

struct ApiRow {
  ApiTopic topic;
  std::string_view api;
  std::string_view words;      ///< template
  std::string_view keys;       ///< template; values as canonical_text writes them
  std::string_view note = {};  ///< what the keys do not say
};

/// Rows of a topic stand together.
std::span<const ApiRow> api_rows();

/// How many numbers the templates of a row take; their order is that of the words.
std::size_t number_count(const ApiRow& row);

/// Templates filled with one number each. Preconditions: number_count(row) numbers, each a few less
/// than the largest and more than the smallest 64-bit number.
std::string to_keys(const ApiRow& row, std::span<const Index> numbers);
std::string to_words(const ApiRow& row, std::span<const Index> numbers);

/// What the API calls what a problem says about a topic; none where the table has no words for it.
std::optional<std::string> words_of(std::string_view api, ApiTopic topic, const Problem& problem);

}  // namespace attest
