// The second query qv, and the factors that make numbers of fp8 codes.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"

namespace attest::probe {
namespace {

std::vector<std::string> seeds(const std::string& line) {
  return {line + " vals=normal:1", line + " vals=normal:2"};
}

/// The term qv . v multiplied by a power of two, which is exact; the scale stays. 0: no term.
Hypothesis term_times(std::string value, double (*factor)(const Problem&)) {
  return {std::move(value), "", solves([factor](Case& of) {
            const double by = factor(of.problem);
            for_each_index(of.qv.extents(), [&](Index b, Index h, Index query, Index c) {
              of.qv.set(b, h, query, c, by * of.qv.get(b, h, query, c));
            });
            return true;
          })};
}

Hypothesis scale_of(std::string value, Index (*columns)(const Problem&)) {
  return {
      std::move(value), "", solves([columns](Case& of) {
        if (!of.problem.scale.reciprocal_sqrt) return false;
        of.problem.scale = Scale{false, 1 / std::sqrt(static_cast<double>(columns(of.problem)))};
        return true;
      })};
}

void probe_qv(const Subject& subject, Found& found) {
  const Hypotheses hypotheses{
      term_times("scale * (q . k + qv . v)", [](const Problem&) { return 1.0; }),
      term_times("left out", [](const Problem&) { return 0.0; }),
      term_times("added after the scale", [](const Problem& p) { return 1 / scale_value(p); }),
      term_times("scaled twice", [](const Problem& p) { return scale_value(p); }),
      term_times("subtracted", [](const Problem&) { return -1.0; }),
      scale_of("scale 1 / sqrt(head_dim)", [](const Problem& p) { return p.head_dim; }),
      scale_of("scale 1 / sqrt(head_dim_v)", [](const Problem& p) { return p.head_dim_v; })};
  // 1 / sqrt(head_dim + head_dim_v) is a power of two, too.
  found.push_back(
      decide(subject, "qv, no scale asked", seeds("1x2:4x7:12/4 TYPE LSE qv=yes"), hypotheses));
  found.push_back(decide(subject, "qv, scale 0.5 asked",
                         seeds("1x2:4x7:12/4 TYPE LSE qv=yes scale=0.5"), hypotheses));
}

using Factors = std::vector<double> Descales::*;

/// Other factors of some of q, k and v.
Hypothesis descaled(std::string value, const std::vector<Factors>& of_tensors,
                    double (*other)(const Problem&, const std::vector<double>&, std::size_t)) {
  return {std::move(value), "", solves([of_tensors, other](Case& of) {
            for (const Factors factors : of_tensors) {
              const std::vector<double> asked = (*of.problem.descales).*factors;
              for (std::size_t i = 0; i < asked.size(); ++i)
                ((*of.problem.descales).*factors)[i] = other(of.problem, asked, i);
            }
            return true;
          })};
}

double one(const Problem&, const std::vector<double>&, std::size_t) {
  return 1;
}
double squared(const Problem&, const std::vector<double>& asked, std::size_t i) {
  return asked[i] * asked[i];
}
double inverse(const Problem&, const std::vector<double>& asked, std::size_t i) {
  return 1 / asked[i];
}
double as_asked_for(const Problem&, const std::vector<double>& asked, std::size_t i) {
  return asked[i];
}
double of_the_first(const Problem&, const std::vector<double>& asked, std::size_t) {
  return asked.front();
}
double of_the_first_member(const Problem& problem, const std::vector<double>& asked,
                           std::size_t i) {
  return asked[i % static_cast<std::size_t>(problem.heads_kv)];
}
double head_major(const Problem& problem, const std::vector<double>& asked, std::size_t i) {
  const auto heads = static_cast<std::size_t>(problem.heads_kv);
  return asked[i % heads * static_cast<std::size_t>(problem.batch) + i / heads];
}

void probe_descales(const Subject& subject, Found& found) {
  const std::vector<Factors> all{&Descales::q, &Descales::k, &Descales::v};
  const Hypotheses hypotheses{
      descaled("one a (batch, kv head) pair, batch-major", all, as_asked_for),
      descaled("one a (batch, kv head) pair, head-major", all, head_major),
      descaled("that of the first pair everywhere", all, of_the_first),
      descaled("those of the first batch member", all, of_the_first_member),
      descaled("left out", all, one),
      descaled("of q left out", {&Descales::q}, one),
      descaled("of k left out", {&Descales::k}, one),
      descaled("of v left out", {&Descales::v}, one),
      descaled("of q applied twice", {&Descales::q}, squared),
      descaled("of k applied twice", {&Descales::k}, squared),
      descaled("of v applied twice", {&Descales::v}, squared),
      descaled("of q and k left out", {&Descales::q, &Descales::k}, one),
      descaled("divided by", all, inverse)};
  const std::string type(to_string(is_fp8(subject.dtype()) ? subject.dtype() : Dtype::e4m3));
  const std::string line = "2x6/3:3x5:8 " + type +
                           " LSE scale=1 "
                           "descale=0.5,2,1.5,0.75,3,0.25;1.5,0.5,0.75,2,0.25,3;"
                           "0.125,8,0.25,32,0.5,4";
  found.push_back(decide(subject, "descales", seeds(line), hypotheses));
}

}  // namespace

void probe_inputs(const Subject& subject, Found& found) {
  probe_qv(subject, found);
  probe_descales(subject, found);
}

}  // namespace attest::probe
