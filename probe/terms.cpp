// What becomes of a score, and the head that a query reads: scale, softcap, ALiBi, sink, head map.
#include <string>
#include <utility>

#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"

namespace attest::probe {
namespace {

std::vector<std::string> seeds(const std::string& line) {
  return {line + " vals=normal:1", line + " vals=normal:2"};
}

Hypothesis scaled_by(std::string value, std::string words, double (*scale)(const Problem&)) {
  return {std::move(value), std::move(words), solves([scale](Case& of) {
            of.problem.scale = Scale{false, scale(of.problem)};
            return true;
          })};
}

Hypothesis changed(std::string value, std::string words, bool (*change)(Case&)) {
  return {std::move(value), std::move(words), solves(change)};
}

bool nothing(Case&) {
  return true;
}

Hypothesis bias_first(bool first) {
  return {first ? "bias before softcap" : "softcap before bias", "", solves([first](Case& of) {
            of.problem.order.bias_before_softcap = first;
            return true;
          })};
}

bool no_softcap(Case& of) {
  of.problem.softcap = 0;
  return true;
}

/// cap tanh(q.k / cap) times the scale.
bool softcap_before_scale(Case& of) {
  of.problem.softcap *= scale_value(of.problem);
  return true;
}

bool scaled_twice_below_the_cap(Case& of) {
  of.problem.scale = Scale{false, scale_value(of.problem) * scale_value(of.problem)};
  return true;
}

bool no_bias(Case& of) {
  of.problem.bias.reset();
  of.bias = {};
  return true;
}

struct AlibiForm {
  Alibi::Form form;
  Causal::Alignment alignment;
  const char* value;
};

constexpr AlibiForm kAlibiForms[] = {
    {Alibi::Form::absolute, Causal::Alignment::bottom_right, "-slope |p - j|, p from bottom-right"},
    {Alibi::Form::absolute, Causal::Alignment::top_left, "-slope |p - j|, p from top-left"},
    {Alibi::Form::relative, Causal::Alignment::bottom_right, "-slope (p - j), p from bottom-right"},
    {Alibi::Form::relative, Causal::Alignment::top_left, "-slope (p - j), p from top-left"},
    {Alibi::Form::column, Causal::Alignment::bottom_right, "column form: +slope j"}};

enum class Slopes { asked, of_the_other_sign, of_the_first_head };

std::string said(const char* value, Slopes slopes) {
  if (slopes == Slopes::of_the_other_sign) return std::string(value) + ", slopes of the other sign";
  if (slopes == Slopes::of_the_first_head) return std::string(value) + ", one slope for all heads";
  return value;
}

Hypotheses alibi_hypotheses(const std::string& words) {
  Hypotheses all{changed("no ALiBi at all", "", [](Case& of) {
    of.problem.alibi.reset();
    return true;
  })};
  for (const AlibiForm& form : kAlibiForms)
    for (const Slopes slopes :
         {Slopes::asked, Slopes::of_the_other_sign, Slopes::of_the_first_head})
      all.push_back({said(form.value, slopes), words, solves([form, slopes](Case& of) {
                       std::vector<double> other;
                       const Index first = 0;
                       for (Index h = 0; h < of.problem.heads_q; ++h)
                         other.push_back((slopes == Slopes::of_the_other_sign ? -1 : 1) *
                                         alibi_slope(of.problem, slopes == Slopes::of_the_first_head
                                                                     ? first
                                                                     : h));
                       of.problem.alibi = Alibi{std::move(other), form.form, form.alignment};
                       return true;
                     })});
  return all;
}

Hypothesis sink(std::string value, bool in_lse, bool zero) {
  return {std::move(value), "", solves([in_lse, zero](Case& of) {
            of.problem.sink->in_lse = in_lse;
            if (zero == of.problem.sink->zero) return true;
            of.problem.sink->zero = zero;
            of.sink = {};
            return zero;
          })};
}

bool no_sink(Case& of) {
  of.problem.sink.reset();
  of.sink = {};
  return true;
}

bool sink_of_the_next_head(Case& of) {
  if (of.problem.sink->zero) return false;
  const Tensor before = of.sink;
  for (Index h = 0; h < of.problem.heads_q; ++h)
    of.sink.set(0, h, 0, 0, before.get(0, (h + 1) % of.problem.heads_q, 0, 0));
  return true;
}

void probe_sink_of(const Subject& subject, const std::string& words, const std::string& name,
                   Found& found) {
  const Hypotheses hypotheses{sink("in the denominator, counted in the lse", true, false),
                              sink("in the denominator, not in the lse", false, false),
                              sink("of logit 0, counted in the lse", true, true),
                              sink("of logit 0, not in the lse", false, true),
                              {"left out", "", solves(no_sink)},
                              {"that of the next head", "", solves(sink_of_the_next_head)}};
  std::vector<Finding> parts;
  const std::vector<std::string> ways{"several queries", "one query"};
  for (const char* const shape : {"1x3:4x6:8", "1x3:1x6:8"})
    parts.push_back(
        decide(subject, name, seeds(std::string(shape) + " TYPE LSE " + words), hypotheses));
  for (Finding& one : in_one(ways, std::move(parts))) found.push_back(std::move(one));
}

}  // namespace

void probe_scale(const Subject& subject, Found& found) {
  const Hypotheses hypotheses{
      changed("1 / sqrt(head_dim)", "", nothing),
      {"none", "scale=1", known_as("no scale")},
      {"applied twice", "", known_as("scale applied twice")},
      {"1 / sqrt(head_dim_v)", "", known_as("scale of the other head_dim")},
      {"1 / head_dim", "", known_as("scale without the root")},
      {"of the other sign", "", known_as("negative scale")},
      {"weights are powers of two", "", known_as("weights are powers of two")},
      {"natural exp of a scale for exp2", "", known_as("natural exp of a scale for exp2")}};
  found.push_back(decide(subject, "scale, none asked", seeds("1x2:4x7:16/6 TYPE LSE"), hypotheses));
  found.push_back(decide(
      subject, "scale, 0.75 asked", seeds("1x2:4x7:16/6 TYPE LSE scale=0.75"),
      {changed("as asked", "", nothing),
       scaled_by("1 / sqrt(head_dim), whatever is asked", "", [](const Problem&) { return 0.25; }),
       scaled_by("none, whatever is asked", "scale=1", [](const Problem&) { return 1.0; }),
       {"applied twice", "", known_as("scale applied twice")},
       {"of the other sign", "", known_as("negative scale")},
       {"weights are powers of two", "", known_as("weights are powers of two")}}));
}

void probe_head_map(const Subject& subject, Found& found) {
  const Hypotheses hypotheses{changed("h / (heads_q / heads_kv)", "", nothing),
                              {"h mod heads_kv", "", known_as("kv head = h mod heads_kv")},
                              {"always the first", "", known_as("kv head = 0")},
                              {"h / 2", "", known_as("groups of two heads")},
                              {"h", "", known_as("kv head = h")},
                              {"shifted by one", "", known_as("kv head shifted by one")}};
  std::vector<Finding> parts;
  const std::vector<std::string> ways{"several queries", "one query"};
  for (const char* const shape : {"1x12/4:3x5:8 TYPE LSE", "1x12/4:1x5:8 TYPE LSE"})
    parts.push_back(decide(subject, "kv head of query head h", seeds(shape), hypotheses));
  for (Finding& one : in_one(ways, std::move(parts))) found.push_back(std::move(one));
}

void probe_softcap(const Subject& subject, Found& found) {
  found.push_back(
      decide(subject, "softcap", seeds("1x2:5x7:16 TYPE LSE cap=0.75"),
             {changed("after the scale", "", nothing),
              changed("before the scale", "", softcap_before_scale),
              changed("after the scale, which is applied twice", "", scaled_twice_below_the_cap),
              changed("left out", "", no_softcap)}));
  const Hypotheses orders{bias_first(false), bias_first(true),
                          changed("softcap alone, no bias", "", no_bias),
                          changed("bias alone, no softcap", "", no_softcap)};
  found.push_back(decide(subject, "softcap and bias, softcap first asked",
                         seeds("1x2:5x7:16 TYPE LSE cap=0.75 bias=h2d"), orders));
  found.push_back(decide(subject, "softcap and bias, bias first asked",
                         seeds("1x2:5x7:16 TYPE LSE cap=0.75 bias=h2d order=scale,bias,cap"),
                         orders));
}

void probe_alibi(const Subject& subject, Found& found) {
  for (const char* const form : {"abs:br", "abs:tl", "rel:br", "col:br"}) {
    const std::string words = std::string("alibi=") + form;
    std::vector<std::string> lines;
    for (const char* const shape : {"1x3:4x9:8", "1x3:9x4:8"})
      lines.push_back(std::string(shape) + " TYPE LSE " + words +
                      " vals=normal:" + std::to_string(lines.size() + 1));
    found.push_back(decide(subject, words, lines, alibi_hypotheses("")));
  }
}

void probe_sink(const Subject& subject, Found& found) {
  probe_sink_of(subject, "sink=head", "sink", found);
  probe_sink_of(subject, "sink=head:out", "sink, not in the lse asked", found);
}

}  // namespace attest::probe
