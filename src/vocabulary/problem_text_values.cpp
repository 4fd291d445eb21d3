#include <cmath>
#include <string>

#include "problem_text_parts.hpp"

namespace attest {
namespace {

constexpr const char* kForms = "expected FAMILY:SEED, real:NAME:SEED or lit:Q;K;V";

/// A tensor of a literal.
struct Literal {
  std::string_view name;
  std::vector<double>& values;
  Extents extents;
  Dtype dtype;
};

bool parse_literal_tensor(TextCursor& cursor, const Literal& literal) {
  const std::size_t tensor_at = cursor.position();
  const Extents& e = literal.extents;
  const Index want = e[0] * e[1] * e[2] * e[3];
  if (want > 0 && !parse_numbers(cursor, literal.values, literal.dtype, "a number")) return false;
  return check_count(cursor, tensor_at, literal.name, literal.values.size(), want);
}

/// ;NAME=NUMBERS of a tensor that the problem has.
bool parse_named_tensor(TextCursor& cursor, const Literal& literal) {
  const std::string begin = ";" + std::string(literal.name) + "=";
  if (!cursor.expect(begin, "and its numbers, which the problem needs")) return false;
  return parse_literal_tensor(cursor, literal);
}

/// A logit a query head; one that is not finite would be no sink, or nothing but a sink.
bool parse_sink(TextCursor& cursor, const Literal& sink) {
  const std::size_t sink_at = cursor.position() + std::string_view(";sink=").size();
  if (!parse_named_tensor(cursor, sink)) return false;
  for (const double logit : sink.values)
    if (!std::isfinite(logit))
      return cursor.fail_at(sink_at, "a sink is finite; no sink is sink=none");
  return true;
}

bool parse_literal(TextCursor& cursor, const Problem& problem, ValueRecipe& values) {
  values = {ValueRecipe::Kind::literal, "", 0, {}, {}, {}};
  const Dtype compute = problem.compute_dtype();
  const Extents v_extents = problem.v_is_k_view ? Extents{} : problem.v_extents();
  if (!parse_literal_tensor(cursor, {"q", values.q, problem.q_extents(), problem.dtype}) ||
      !cursor.expect(";", "between q and k") ||
      !parse_literal_tensor(cursor, {"k", values.k, problem.k_extents(), problem.k_dtype()}) ||
      !cursor.expect(";", "between k and v") ||
      !parse_literal_tensor(cursor, {"v", values.v, v_extents, problem.v_dtype()}))
    return false;
  const bool has_sink = problem.sink && !problem.sink->zero;
  const bool has_dlse = problem.backward && problem.backward->dlse;
  if (problem.bias && !parse_named_tensor(cursor, {"bias", values.bias, problem.bias_extents(),
                                                   problem.bias_dtype()}))
    return false;
  if (has_sink && !parse_sink(cursor, {"sink", values.sink, problem.sink_extents(), compute}))
    return false;
  if (problem.qv &&
      !parse_named_tensor(cursor, {"qv", values.qv, problem.qv_extents(), problem.dtype}))
    return false;
  if (problem.backward && !parse_named_tensor(cursor, {"dout", values.dout, problem.out_extents(),
                                                       problem.out_dtype()}))
    return false;
  if (has_dlse &&
      !parse_named_tensor(cursor, {"dlse", values.dlse, problem.dlse_extents(), compute}))
    return false;
  return !cursor.accept(";") || cursor.number(values.seed, "a seed");
}

}  // namespace

bool parse_values(TextCursor& cursor, ProblemText& result) {
  ValueRecipe& values = result.values;
  if (cursor.accept("lit:")) return parse_literal(cursor, result.problem, values);
  if (cursor.accept("real:")) values.kind = ValueRecipe::Kind::real;
  const std::size_t name_at = cursor.position();
  values.name = cursor.word(":");
  if (values.kind == ValueRecipe::Kind::family && (values.name == "lit" || values.name == "real"))
    return cursor.fail_at(name_at, kForms);
  if (values.name.empty()) return cursor.fail(kForms);
  values.seed = 0;
  return !cursor.accept(":") || cursor.number(values.seed, "a seed");
}

bool parse_law(TextCursor& cursor, ProblemText& result) {
  result.law = cursor.word();
  return !result.law.empty() || cursor.fail("expected the name of a law");
}

bool parse_counts(TextCursor& cursor, std::vector<Index>& list, const char* what) {
  do {
    if (!cursor.count(list.emplace_back(), what)) return false;
  } while (cursor.accept(","));
  return true;
}

bool parse_numbers(TextCursor& cursor, std::vector<double>& list, Dtype dtype, const char* what) {
  do {
    if (!cursor.number_of(list.emplace_back(), dtype, what)) return false;
  } while (cursor.accept(","));
  return true;
}

bool check_count(TextCursor& cursor, std::size_t list_at, std::string_view name, std::size_t count,
                 Index want) {
  return static_cast<Index>(count) == want ||
         cursor.fail_at(list_at, std::string(name) + " has " + std::to_string(count) +
                                     " numbers, the problem needs " + std::to_string(want));
}

}  // namespace attest
