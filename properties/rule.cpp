#include "properties/rule.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "properties/judge.hpp"
#include "properties/twin.hpp"

namespace attest::properties {
namespace {

ComparisonRule& in_force() {
  static ComparisonRule rule;
  return rule;
}

/// One number that is not below 0, up to `end` of the text.
bool read_number(std::string_view text, std::size_t begin, std::size_t end, double& number,
                 TextError& error) {
  const char* const last = text.data() + end;
  const auto [stop, problem] = std::from_chars(text.data() + begin, last, number);
  if (problem == std::errc() && stop == last && std::isfinite(number) && number >= 0) return true;
  error = {"expected a number that is not below 0", begin};
  return false;
}

bool read_tolerance(std::string_view text, ComparisonRule& rule, TextError& error) {
  std::size_t begin = 0;
  bool seen_absolute = false;
  bool seen_relative = false;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view name = text.substr(begin, 4);
    bool& seen = name == "abs:" ? seen_absolute : seen_relative;
    if (name != "abs:" && name != "rel:") {
      error = {"expected abs:NUMBER or rel:NUMBER", begin};
      return false;
    }
    if (std::exchange(seen, true)) {
      error = {"this is said twice", begin};
      return false;
    }
    double& to = name == "abs:" ? rule.absolute : rule.relative;
    if (!read_number(text, begin + name.size(), end, to, error)) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

bool parse_rule(std::string_view text, ComparisonRule& rule, TextError& error) {
  rule = {};
  constexpr std::string_view kTwin = "twin:";
  if (text == "bound") return true;
  if (text.starts_with(kTwin)) {
    rule.kind = ComparisonRule::Kind::twin;
    return read_number(text, kTwin.size(), text.size(), rule.factor, error);
  }
  if (text.starts_with("abs:") || text.starts_with("rel:")) {
    rule.kind = ComparisonRule::Kind::tolerance;
    return read_tolerance(text, rule, error);
  }
  error = {"expected bound, twin:N or abs:A,rel:R", 0};
  return false;
}

std::string to_text(const ComparisonRule& rule) {
  const auto text = [](double number) { return number_text(number, Dtype::f64); };
  if (rule.kind == ComparisonRule::Kind::bound) return "bound";
  if (rule.kind == ComparisonRule::Kind::twin) return "twin:" + text(rule.factor);
  return "abs:" + text(rule.absolute) + ",rel:" + text(rule.relative);
}

RuleInForce::RuleInForce(const ComparisonRule& rule) {
  in_force() = rule;
}

RuleInForce::~RuleInForce() {
  in_force() = {};
}

Limits::Limits(const Case& of) : rule_(in_force()) {
  if (rule_.kind != ComparisonRule::Kind::twin) return;
  const double unit = format_of(of.problem.out_dtype()).unit_roundoff;
  const Truth truth(DeclaredAccuracy{}, of);
  for_each_row(of.problem, [&](const RowIndex& row) {
    const auto twin = twin_row(of, row);
    const auto exact = twin ? truth.row(row) : std::nullopt;
    if (!exact) return;
    for (std::size_t c = 0; c < twin->size(); ++c) {
      const Enclosure& want = exact->facts.output[c];
      // A twin that happens to be exact counts as rounded once.
      twin_error_ =
          std::max({twin_error_, want.distance_upper((*twin)[c]), unit * std::abs(want.high)});
    }
  });
}

reference::CertifiedRow Limits::apply(reference::CertifiedRow row) const {
  if (rule_.kind == ComparisonRule::Kind::bound || row.facts.visible_keys() == 0) return row;
  for (std::size_t c = 0; c < row.bound.output.size(); ++c)
    row.bound.output[c] =
        rule_.kind == ComparisonRule::Kind::twin
            ? rule_.factor * twin_error_
            : rule_.absolute + rule_.relative * std::abs(row.facts.output[c].high);
  row.bound.unproven.clear();
  if (rule_.kind == ComparisonRule::Kind::tolerance && row.asked_lse)
    row.asked_lse_bound = rule_.absolute + rule_.relative * std::abs(row.asked_lse->high);
  return row;
}

}  // namespace attest::properties
