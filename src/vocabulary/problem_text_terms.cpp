#include <cmath>
#include <string>
#include <utility>

#include "problem_text_parts.hpp"

namespace attest {

bool parse_scale(TextCursor& cursor, ProblemText& result) {
  Scale& scale = result.problem.scale;
  if (cursor.accept("rsqrt")) return true;
  const std::size_t scale_at = cursor.position();
  scale.reciprocal_sqrt = false;
  if (!cursor.real(scale.value, result.problem.compute_dtype(), "a number or rsqrt")) return false;
  return std::isfinite(scale.value) ||
         cursor.fail_at(scale_at, "scale must be finite in the problem's dtype");
}

bool parse_softcap(TextCursor& cursor, ProblemText& result) {
  double& cap = result.problem.softcap;
  if (cursor.accept("off")) return true;
  const std::size_t cap_at = cursor.position();
  if (!cursor.number_of(cap, result.problem.compute_dtype(), "a number or off")) return false;
  return (std::isfinite(cap) && cap > 0) ||
         cursor.fail_at(cap_at, "the softcap must be a finite number above 0");
}

bool parse_bias(TextCursor& cursor, ProblemText& result) {
  if (cursor.accept("none")) return true;
  Bias bias;
  bias.per_batch = cursor.accept("b");
  bias.per_head = cursor.accept("h");
  bias.per_query = cursor.accept("2d");
  if (!bias.per_query && !cursor.accept("1d"))
    return cursor.fail("expected none, or 1d or 2d after b, h or bh, as in bias=h2d");
  result.problem.bias = bias;
  if (!cursor.accept(":")) return true;
  const std::size_t dtype_at = cursor.position();
  const std::optional<Dtype> dtype = dtype_from_string(cursor.word());
  if (!dtype || is_fp8(*dtype))
    return cursor.fail_at(dtype_at, "expected a dtype of the bias: f32, f64, bf16 or f16");
  if (*dtype != result.problem.compute_dtype()) result.problem.bias->dtype = dtype;
  return true;
}

bool parse_alibi(TextCursor& cursor, ProblemText& result) {
  if (cursor.accept("none")) return true;
  Alibi& alibi = result.problem.alibi.emplace();
  constexpr std::array kForms{Choice{"abs", Alibi::Form::absolute},
                              Choice{"rel", Alibi::Form::relative},
                              Choice{"col", Alibi::Form::column}};
  constexpr std::array kCorners{Choice{"br", Causal::Alignment::bottom_right},
                                Choice{"tl", Causal::Alignment::top_left}};
  if (!parse_choice(cursor, kForms, alibi.form) ||
      !cursor.expect(":", "and a corner, br or tl, after the form of ALiBi") ||
      !parse_choice(cursor, kCorners, alibi.alignment))
    return false;
  if (!cursor.accept(":")) return true;
  const std::size_t slopes_at = cursor.position();
  return parse_numbers(cursor, alibi.slopes, Dtype::f32, "a slope") &&
         check_count(cursor, slopes_at, "alibi", alibi.slopes.size(), result.problem.heads_q);
}

namespace {

/// What may come before the softcap.
struct OrderWord {
  std::string_view word;
  bool ScoreOrder::*before_cap;
};
constexpr std::array kOrderWords{OrderWord{"bias", &ScoreOrder::bias_before_softcap},
                                 OrderWord{"alibi", &ScoreOrder::alibi_before_softcap},
                                 OrderWord{"mask", &ScoreOrder::mask_before_softcap}};

}  // namespace

bool parse_order(TextCursor& cursor, ProblemText& result) {
  if (!cursor.expect("scale", "at the beginning of an order")) return false;
  bool capped = false;
  std::array<bool, kOrderWords.size()> seen{};
  while (cursor.accept(",")) {
    const std::size_t word_at = cursor.position();
    const std::string word(cursor.word(","));
    std::size_t i = 0;
    while (i < kOrderWords.size() && kOrderWords[i].word != word) ++i;
    if (word != "cap" && i == kOrderWords.size())
      return cursor.fail_at(word_at, "expected cap, bias, alibi or mask");
    if (word == "cap" ? std::exchange(capped, true) : std::exchange(seen[i], true))
      return cursor.fail_at(word_at, "'" + word + "' is given twice");
    if (word != "cap") result.problem.order.*kOrderWords[i].before_cap = !capped;
  }
  return capped || cursor.fail("an order needs cap");
}

bool parse_sink(TextCursor& cursor, ProblemText& result) {
  constexpr std::array kKinds{Choice{"none", std::optional<Sink>()},
                              Choice{"head", std::optional(Sink{false, true})},
                              Choice{"one", std::optional(Sink{true, true})}};
  std::optional<Sink>& sink = result.problem.sink;
  if (!parse_choice(cursor, kKinds, sink)) return false;
  if (!sink || !cursor.accept(":")) return true;
  sink->in_lse = false;
  return cursor.expect("out", "where the lse does not count the sink");
}

bool parse_qv(TextCursor& cursor, ProblemText& result) {
  constexpr std::array kWords{Choice{"no", false}, Choice{"yes", true}};
  return parse_choice(cursor, kWords, result.problem.qv);
}

}  // namespace attest
