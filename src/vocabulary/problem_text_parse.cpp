#include <array>
#include <optional>
#include <utility>

#include "attest/longer_tensors.hpp"
#include "problem_checks.hpp"
#include "problem_text_parts.hpp"

namespace attest {
namespace {

struct Key {
  std::string_view name;
  bool (*parse)(TextCursor&, ProblemText&);
};
constexpr std::array kKeys{
    Key{"mask", parse_mask},        Key{"align", parse_align},   Key{"win", parse_window},
    Key{"keep", parse_keep},        Key{"scale", parse_scale},   Key{"cap", parse_softcap},
    Key{"bias", parse_bias},        Key{"alibi", parse_alibi},   Key{"order", parse_order},
    Key{"sink", parse_sink},        Key{"qv", parse_qv},         Key{"v", parse_v},
    Key{"descale", parse_descales}, Key{"out", parse_out},       Key{"empty", parse_empty},
    Key{"lse", parse_lse},          Key{"layout", parse_layout}, Key{"kv", parse_kv},
    Key{"bwd", parse_backward},     Key{"tile", parse_tile},     Key{"split", parse_split},
    Key{"merge", parse_merge},      Key{"vals", parse_values},   Key{"law", parse_law}};

std::size_t key_index(std::string_view name) {
  std::size_t index = 0;
  while (index < kKeys.size() && kKeys[index].name != name) ++index;
  return index;
}

/// Where the parts of a line stand; what is not written stands at its beginning.
struct Places {
  std::size_t types = 0;
  std::array<std::optional<std::size_t>, kKeys.size()> values{};

  std::size_t of(std::string_view name) const {
    if (name == "types") return types;
    const std::size_t index = key_index(name);
    return index < kKeys.size() ? values[index].value_or(0) : 0;
  }
};

bool parse_value(TextCursor& cursor, const Key& key, ProblemText& result) {
  if (!key.parse(cursor, result)) return false;
  if (cursor.at_end() || cursor.peek() == ' ' || cursor.peek() == '\t') return true;
  return cursor.fail("unexpected text after the value of '" + std::string(key.name) + "'");
}

bool parse_key(TextCursor& cursor, ProblemText& result, Places& places) {
  const std::size_t key_at = cursor.position();
  const std::string_view name = cursor.word("=");
  const std::size_t index = key_index(name);
  if (index == kKeys.size()) {
    std::string known;
    for (const Key& key : kKeys) known += " " + std::string(key.name);
    return cursor.fail_at(key_at, "unknown key '" + std::string(name) + "'; known:" + known);
  }
  if (places.values[index])
    return cursor.fail_at(key_at, "key '" + std::string(name) + "' is given twice");
  if (!cursor.expect("=", "after the key")) return false;
  places.values[index] = cursor.position();
  if (name != "vals") return parse_value(cursor, kKeys[index], result);
  cursor.word();  // read when the other keys have said which tensors there are
  return true;
}

bool parse_keys(TextCursor& cursor, ProblemText& result, Places& places) {
  for (cursor.skip_spaces(); !cursor.at_end(); cursor.skip_spaces())
    if (!parse_key(cursor, result, places)) return false;
  return true;
}

/// The contradictions between keys, each at the key that it is about.
bool check_together(TextCursor& cursor, const Problem& problem, const Places& places) {
  return for_each_check([&](const ProblemCheck& check) {
    const Status status = check.check(problem);
    return status.ok() || cursor.fail_at(places.of(check.key), status.message());
  });
}

bool parse_values_last(TextCursor& cursor, ProblemText& result, const Places& places) {
  const std::size_t index = key_index("vals");
  if (!places.values[index]) return true;
  cursor.move_to(*places.values[index]);
  return parse_value(cursor, kKeys[index], result);
}

/// What is shorter than a batch member is left to check_together.
bool lengthen(TextCursor& cursor, Index length, const std::vector<Index>& of_members,
              Index& longest, std::string_view of) {
  if (of_members.empty() && length != longest)
    return cursor.fail_at(0, "the tensors have " + std::to_string(length) + " " + std::string(of) +
                                 ", every batch member " + std::to_string(longest));
  longest = length;
  return true;
}

bool lengthen(TextCursor& cursor, const std::optional<TensorLengths>& tensors, Problem& problem) {
  if (!tensors) return true;
  return lengthen(cursor, tensors->seq_q, problem.query_lengths, problem.seq_q, "queries") &&
         lengthen(cursor, tensors->seq_kv, problem.key_lengths, problem.seq_kv, "keys");
}

bool parse(std::string_view text, const std::optional<TensorLengths>& tensors, ProblemText& result,
           TextError& error) {
  result = ProblemText{};
  TextCursor cursor(text);
  Places places;
  // Sizes are checked before any key relies on them.
  if (parse_shape(cursor, result.problem, places.types) &&
      lengthen(cursor, tensors, result.problem) && check_together(cursor, result.problem, places) &&
      parse_keys(cursor, result, places) && check_together(cursor, result.problem, places) &&
      parse_values_last(cursor, result, places) && check_tree(cursor, result, places.of("merge")))
    return true;
  error = cursor.error();
  return false;
}

}  // namespace

std::string with_caret(std::string_view text, const TextError& error) {
  return std::string(text) + "\n" + std::string(error.position, ' ') + "^ " + error.message;
}

bool parse_problem_text(std::string_view text, ProblemText& result, TextError& error) {
  return parse(text, std::nullopt, result, error);
}

bool parse_problem_text(std::string_view text, TensorLengths tensors, ProblemText& result,
                        TextError& error) {
  return parse(text, tensors, result, error);
}

}  // namespace attest
