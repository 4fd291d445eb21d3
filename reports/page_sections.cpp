#include "reports/page_sections.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "reports/escape.hpp"
#include "reports/numbers.hpp"
#include "reports/page_data.hpp"

namespace attest::reports {
namespace {

/// Of one text in a table of the page.
constexpr std::size_t kMaxText = 400;
constexpr std::size_t kMaxReplay = 2000;
/// Of one text of a violation.
constexpr std::size_t kMaxBlock = 20'000;
constexpr std::size_t kMaxWitnesses = 60;

std::string short_replay(const std::string& replay) {
  return replay.size() <= kMaxReplay ? replay : std::string();
}

/// Takes one after the other until the bytes are used up.
class Filled {
 public:
  explicit Filled(std::size_t bytes) : left_(bytes) {}
  bool add(Json json) {
    const std::size_t size = dump(json, -1).size() + 1;
    if (size > left_) return false;
    left_ -= size;
    json_.push_back(std::move(json));
    return true;
  }
  Json take() { return std::move(json_); }

 private:
  std::size_t left_;
  Json json_ = Json::array();
};

Json page_case(const CaseResult& result) {
  return {{"kernel", result.kernel},
          {"law", result.law},
          {"number", result.number},
          {"problem", cut(result.problem, kMaxText)},
          {"dtype", result.dtype},
          {"mask", result.mask},
          {"keys", result.keys},
          {"outcome", to_string(result.verdict.outcome)},
          {"reason", cut(result.verdict.reason, kMaxText)},
          {"ratio", json_number(result.verdict.worst_ratio)},
          {"seconds", json_number(result.seconds)},
          {"replay", short_replay(result.replay)}};
}

Json page_witness(const CaseResult& result) {
  const Witness& witness = *result.verdict.witness;
  const double want = witness.want.high + witness.want.low;
  return {{"kernel", result.kernel},
          {"law", result.law},
          {"dtype", result.dtype},
          {"tensor", witness.tensor},
          {"element", witness_element(witness)},
          {"got", decimal_text(witness.got)},
          {"got_hex", hexadecimal_text(witness.got)},
          {"want", value_beside(want, witness.got)},
          {"want_hex", hexadecimal_text(want)},
          {"error", json_number(witness.error)},
          {"bound", json_number(witness.bound)},
          {"ulp", json_number(result.ulp)},
          {"ratio", json_number(witness.bound > 0 ? witness.error / witness.bound
                                                  : result.verdict.worst_ratio)},
          {"problem", cut(result.problem, kMaxText)},
          {"replay", short_replay(result.replay)}};
}

Json page_violation(const std::string& kernel, const Violation& violation) {
  const CaseResult& smallest = violation.shrunk.law.empty() ? violation.found : violation.shrunk;
  const std::string& replay = smallest.replay.empty() ? violation.found.replay : smallest.replay;
  return {{"kernel", kernel},
          {"law", violation.found.law},
          {"text", cut(render_found_text(violation.found), kMaxBlock)},
          {"shrunk_text", cut(render_shrunk_text(violation), kMaxBlock)},
          {"values", cut(violation.values, kMaxBlock)},
          {"replay", short_replay(replay)},
          {"saved", violation.saved}};
}

Json page_accuracy_row(const AccuracyRow& row) {
  return {{"kernel", row.kernel},
          {"dtype", row.dtype},
          {"tensor", row.tensor},
          {"problem", cut(row.problem, kMaxText)},
          {"outputs", row.outputs},
          {"violations", row.violations},
          {"worst_error", json_number(row.worst_error)},
          {"worst_ratio", json_number(row.worst_ratio)},
          {"worst_lse_ratio", json_number(row.worst_lse_ratio)},
          {"ulp_median", json_number(row.ulp.median)},
          {"ulp_q99", json_number(row.ulp.q99)},
          {"ulp_max", json_number(row.ulp.max)},
          {"twin_ratio", json_number(row.twin_ratio)},
          {"worst_element", row.worst_element},
          {"replay", short_replay(row.replay)}};
}

double worst_of(const AccuracyRow& row) {
  return is_worse_ratio(row.worst_lse_ratio, row.worst_ratio) ? row.worst_lse_ratio
                                                              : row.worst_ratio;
}

}  // namespace

Json page_laws(const Run& run) {
  std::map<std::string, std::string> sentences;
  for (const LawText& text : run.header.laws) sentences[text.law] = text.sentence;
  Json json = Json::array();
  for (const CheckReport& check : run.checks)
    for (const LawRow& row : check.laws) {
      // The sentence stands in the first row of its law.
      const auto sentence = sentences.find(row.law);
      json.push_back(
          {{"kernel", check.kernel},
           {"law", row.law},
           {"sentence",
            sentence == sentences.end() ? std::string() : std::exchange(sentence->second, {})},
           {"cases", row.cases},
           {"ok", row.ok},
           {"weak", row.weak},
           {"unproven", row.unproven},
           {"skipped", row.skipped},
           {"violations", row.violations},
           {"known", row.known},
           {"worst_ratio", json_number(row.worst_ratio)},
           {"worst_problem", cut(row.worst_problem, kMaxText)},
           {"worst_replay", short_replay(row.worst_replay)},
           {"values", row.values}});
    }
  return json;
}

Json page_cases(const Run& run) {
  Filled cases(kPageCases);
  for (const CaseResult* const result : run.cases.by_importance())
    if (!cases.add(page_case(*result))) break;
  return cases.take();
}

Json page_ratio_by_keys(const Run& run) {
  Filled points(kPageOther);
  for (const CaseResult* const result : run.cases.worst_by_keys())
    points.add({{"kernel", result->kernel},
                {"dtype", result->dtype},
                {"keys", result->keys},
                {"ratio", json_number(result->verdict.worst_ratio)},
                {"problem", cut(result->problem, kMaxText)},
                {"replay", short_replay(result->replay)},
                {"law", result->law}});
  return points.take();
}

Json page_ulp(const Measurements& measured) {
  Json json = Json::array();
  for (const StatisticsRow& row : measured.statistics) {
    const ErrorStatistics& errors = row.errors;
    int used = ErrorStatistics::kBins;
    while (used > 0 && errors.histogram[static_cast<std::size_t>(used - 1)] == 0) --used;
    Json bins = Json::array();
    for (int bin = 0; bin < used; ++bin)
      bins.push_back({{"from", ErrorStatistics::lower_edge(bin)},
                      {"to", json_number(ErrorStatistics::upper_edge(bin))},
                      {"correctly_rounded", bin == 0},
                      {"count", errors.histogram[static_cast<std::size_t>(bin)]}});
    json.push_back({{"kernel", row.kernel},
                    {"dtype", row.dtype},
                    {"tensor", row.tensor},
                    {"bins", std::move(bins)},
                    {"total", errors.count},
                    {"not_finite", errors.not_finite},
                    {"missed_zero", errors.missed_zero},
                    {"largest", json_number(errors.largest)}});
  }
  return json;
}

Json page_bias(const Measurements& measured) {
  Json json = Json::array();
  for (const StatisticsRow& row : measured.statistics) {
    const SampleMeans& bias = row.errors.bias;
    if (bias.count == 0) continue;
    const double half = bias.half_width();
    json.push_back({{"kernel", row.kernel},
                    {"dtype", row.dtype},
                    {"tensor", row.tensor},
                    {"count", bias.count},
                    {"mean", json_number(bias.mean())},
                    {"low", json_number(bias.mean() - half)},
                    {"high", json_number(bias.mean() + half)}});
  }
  return json;
}

Json page_heat(const HeatMap& heat) {
  const std::size_t tiles = heat.tile_begin.empty() ? 0 : heat.tile_begin.size() - 1;
  Json tile_list = Json::array();
  for (std::size_t tile = 0; tile < tiles; ++tile)
    tile_list.push_back({{"begin", heat.tile_begin[tile]}, {"end", heat.tile_begin[tile + 1]}});
  Json cells = Json::array();
  for (std::size_t row = 0; row < heat.rows.size(); ++row)
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const double ratio = heat.ratio[row * tiles + tile];
      if (!std::isnan(ratio)) cells.push_back(Json::array({row, tile, json_number(ratio)}));
    }
  return {{"kernel", heat.kernel},
          {"law", heat.law},
          {"problem", cut(heat.problem, kMaxText)},
          {"replay", short_replay(heat.replay)},
          {"tensor", heat.tensor},
          {"note", heat.note},
          {"rows", heat.rows},
          {"tiles", std::move(tile_list)},
          {"tile_q", heat.tile_q},
          {"tile_kv", heat.tile_kv},
          {"cells", std::move(cells)}};
}

Json page_witnesses(const Run& run) {
  Filled witnesses(kPageOther);
  for (const CaseResult* const result : run.cases.worst_witnesses(kMaxWitnesses))
    witnesses.add(page_witness(*result));
  return witnesses.take();
}

Json page_violations(const Run& run) {
  Filled violations(kPageViolations);
  for (const CheckReport& check : run.checks)
    for (const Violation& violation : check.violations)
      violations.add(page_violation(check.kernel, violation));
  return violations.take();
}

Json page_history(const std::vector<RunPoint>& points) {
  Filled history(kPageOther);
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    history.add({{"label", point->git.empty() ? point->started : point->git},
                 {"started", point->started},
                 {"kernel", point->kernel},
                 {"worst_ratio", json_number(point->worst_ratio)},
                 {"rms_ulp", json_number(point->rms_ulp)},
                 {"violations", point->violations},
                 {"cases", point->cases},
                 {"git", point->git}});
  Json json = history.take();
  std::reverse(json.begin(), json.end());
  return json;
}

Json page_accuracy(const Run& run) {
  // The worst first, as long as there is room; then in the order of the run.
  std::vector<std::size_t> order(run.accuracy.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return is_worse_ratio(worst_of(run.accuracy[a]), worst_of(run.accuracy[b]));
  });
  Filled room(kPageAccuracy);
  std::size_t fits = 0;
  while (fits < order.size() && room.add(page_accuracy_row(run.accuracy[order[fits]]))) ++fits;
  order.resize(fits);
  std::sort(order.begin(), order.end());
  Json json = Json::array();
  for (const std::size_t i : order) json.push_back(page_accuracy_row(run.accuracy[i]));
  return json;
}

Json page_sweep(const Run& run) {
  Filled points(kPageAccuracy);
  for (const SweepReport& sweep : run.sweeps)
    for (const SweepPoint& point : sweep.points)
      points.add({{"kernel", sweep.kernel},
                  {"over", sweep.over},
                  {"x", point.x},
                  {"number", json_number(point.number)},
                  {"dtype", point.dtype},
                  {"max_error", json_number(point.max_error)},
                  {"rms_error", json_number(point.rms_error)},
                  {"bias", json_number(point.bias.mean())},
                  {"ulp_max", json_number(point.ulp_max)},
                  {"ratio", json_number(point.ratio)},
                  {"twin_ratio", json_number(point.twin_ratio)},
                  {"violations", point.violations},
                  {"reason", point.reason},
                  {"problem", cut(point.problem, kMaxText)},
                  {"replay", short_replay(point.replay)}});
  return points.take();
}

}  // namespace attest::reports
