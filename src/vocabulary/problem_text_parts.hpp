// The readers of the values of a problem text. Each reads one value and leaves the cursor behind
// it; a failure is remembered by the cursor.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "attest/problem_text.hpp"
#include "text_cursor.hpp"

namespace attest {

/// BxHq[/Hkv]:LqxLk:d[/dv] TYPES; tells where TYPES stand.
bool parse_shape(TextCursor& cursor, Problem& problem, std::size_t& types_at);

bool parse_mask(TextCursor& cursor, ProblemText& result);
bool parse_align(TextCursor& cursor, ProblemText& result);
bool parse_window(TextCursor& cursor, ProblemText& result);
bool parse_keep(TextCursor& cursor, ProblemText& result);

bool parse_scale(TextCursor& cursor, ProblemText& result);
bool parse_softcap(TextCursor& cursor, ProblemText& result);
bool parse_bias(TextCursor& cursor, ProblemText& result);
bool parse_alibi(TextCursor& cursor, ProblemText& result);
bool parse_order(TextCursor& cursor, ProblemText& result);
bool parse_sink(TextCursor& cursor, ProblemText& result);
bool parse_qv(TextCursor& cursor, ProblemText& result);

bool parse_v(TextCursor& cursor, ProblemText& result);
bool parse_descales(TextCursor& cursor, ProblemText& result);
bool parse_layout(TextCursor& cursor, ProblemText& result);
bool parse_kv(TextCursor& cursor, ProblemText& result);

bool parse_out(TextCursor& cursor, ProblemText& result);
bool parse_empty(TextCursor& cursor, ProblemText& result);
bool parse_lse(TextCursor& cursor, ProblemText& result);
bool parse_backward(TextCursor& cursor, ProblemText& result);

bool parse_tile(TextCursor& cursor, ProblemText& result);
bool parse_split(TextCursor& cursor, ProblemText& result);
bool parse_merge(TextCursor& cursor, ProblemText& result);
/// An explicit tree must fit the splits or the tiles; which of them is up to the kernel's scope.
bool check_tree(TextCursor& cursor, const ProblemText& result, std::size_t merge_at);

/// Needs the whole problem: it says how many numbers a literal has, and of which types.
bool parse_values(TextCursor& cursor, ProblemText& result);
bool parse_law(TextCursor& cursor, ProblemText& result);

/// A word and what it means.
template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};
template <class Value>
Choice(std::string_view, Value) -> Choice<Value>;

template <class Value, std::size_t Count>
bool parse_choice(TextCursor& cursor, const std::array<Choice<Value>, Count>& choices,
                  Value& value) {
  for (const Choice<Value>& choice : choices)
    if (cursor.accept(choice.word)) {
      value = choice.value;
      return true;
    }
  std::string known;
  for (std::size_t i = 0; i < Count; ++i)
    known += (i == 0 ? "" : i + 1 == Count ? " or " : ", ") + std::string(choices[i].word);
  return cursor.fail("expected " + known);
}

bool parse_counts(TextCursor& cursor, std::vector<Index>& list, const char* what);
bool parse_numbers(TextCursor& cursor, std::vector<double>& list, Dtype dtype, const char* what);

/// "NAME has 2 numbers, the problem needs 3", at the list.
bool check_count(TextCursor& cursor, std::size_t list_at, std::string_view name, std::size_t count,
                 Index want);

}  // namespace attest
