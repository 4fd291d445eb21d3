#include "reports/case_sample.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <string_view>

#include "reports/escape.hpp"

namespace attest::reports {
namespace {

std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33U)) * 0xFF51AFD7ED558CCDU;
  hash = (hash ^ (hash >> 33U)) * 0xC4CEB9FE1A85EC53U;
  return hash ^ (hash >> 33U);
}

/// As good as random, and the same in every run.
std::uint64_t hash_of(const CaseResult& result) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const std::string_view text :
       {std::string_view(result.kernel), std::string_view(result.law)})
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return mixed(hash ^ mixed(static_cast<std::uint64_t>(result.number)));
}

/// -1 where there are no keys.
int power_of_two(Index keys) {
  return keys <= 0 ? -1 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(keys))) - 1;
}

CaseResult trimmed(const CaseResult& result, std::size_t most) {
  CaseResult kept = result;
  kept.verdict.statistics.reset();
  kept.verdict.stand_ins = {};
  kept.problem = cut(kept.problem, most);
  kept.verdict.reason = cut(kept.verdict.reason, most);
  if (kept.replay.size() > most) kept.replay.clear();
  return kept;
}

/// The worse one, and of equals that which comes first, whatever is added first.
bool replaces(const CaseResult& candidate, const CaseResult& kept) {
  const double ratio = candidate.verdict.worst_ratio;
  if (is_worse_ratio(ratio, kept.verdict.worst_ratio)) return true;
  if (is_worse_ratio(kept.verdict.worst_ratio, ratio)) return false;
  return std::tie(candidate.law, candidate.number) < std::tie(kept.law, kept.number);
}

}  // namespace

bool is_worse_ratio(double candidate, double than) {
  return std::isnan(candidate) ? !std::isnan(than) : candidate > than;
}

void CaseSample::add(const CaseSample& other) {
  total_ += other.total_;
  for (const CaseResult* const result : other.by_importance()) keep(*result);
}

void CaseSample::keep(const CaseResult& result) {
  if (is_violation(result.verdict.outcome)) {
    violations_.try_emplace({result.kernel, result.law, result.number},
                            trimmed(result, kMaxExtremeText));
    if (violations_.size() > kMaxViolations) violations_.erase(std::prev(violations_.end()));
  }
  if (result.verdict.worst_ratio != 0) {
    const KeysKey key{result.kernel, result.dtype, power_of_two(result.keys)};
    const auto found = by_keys_.find(key);
    if (found == by_keys_.end())
      by_keys_.emplace(key, trimmed(result, kMaxExtremeText));
    else if (replaces(result, found->second))
      found->second = trimmed(result, kMaxExtremeText);
  }
  keep_by_variant(result);
  OfLaw& sample = laws_[{result.kernel, result.law}];
  const Rank rank{hash_of(result), result.number};
  if (sample.size() >= kPerLaw && rank >= sample.rbegin()->first) return;
  sample.try_emplace(rank, trimmed(result, kMaxSampledText));
  if (sample.size() > kPerLaw) sample.erase(std::prev(sample.end()));
}

void CaseSample::keep_by_variant(const CaseResult& result) {
  if (result.verdict.worst_ratio == 0 && std::isnan(result.ulp)) return;
  const auto [found, fresh] =
      by_variant_.try_emplace({result.kernel, result.variant, result.dtype});
  VariantWorst& worst = found->second;
  if (fresh || replaces(result, worst.by_ratio)) worst.by_ratio = trimmed(result, kMaxExtremeText);
  const bool larger =
      !std::isnan(result.ulp) && (std::isnan(worst.by_ulp.ulp) || result.ulp > worst.by_ulp.ulp);
  const bool earlier =
      result.ulp == worst.by_ulp.ulp &&
      std::tie(result.law, result.number) < std::tie(worst.by_ulp.law, worst.by_ulp.number);
  if (larger || earlier) worst.by_ulp = trimmed(result, kMaxExtremeText);
}

std::vector<VariantWorst> CaseSample::worst_by_variant() const {
  std::vector<VariantWorst> worst;
  for (const auto& [key, one] : by_variant_) worst.push_back(one);
  return worst;
}

std::vector<const CaseResult*> CaseSample::by_importance() const {
  std::vector<const CaseResult*> chosen;
  std::set<std::tuple<std::string_view, std::string_view, std::int64_t>> seen;
  const auto choose = [&](const CaseResult& result) {
    if (seen.emplace(result.kernel, result.law, result.number).second) chosen.push_back(&result);
  };
  for (const auto& [key, result] : violations_) choose(result);
  for (const auto& [key, result] : by_keys_) choose(result);
  for (const auto& [key, worst] : by_variant_) {
    choose(worst.by_ratio);
    if (!std::isnan(worst.by_ulp.ulp)) choose(worst.by_ulp);
  }
  // One of each law in turn.
  std::vector<std::pair<std::map<Rank, CaseResult>::const_iterator, const OfLaw*>> open;
  for (const auto& [key, sample] : laws_) open.emplace_back(sample.begin(), &sample);
  for (bool more = true; more;) {
    more = false;
    for (auto& [next, sample] : open) {
      if (next == sample->end()) continue;
      choose((next++)->second);
      more = true;
    }
  }
  return chosen;
}

std::vector<const CaseResult*> CaseSample::worst_by_keys() const {
  std::vector<const CaseResult*> worst;
  for (const auto& [key, result] : by_keys_) worst.push_back(&result);
  return worst;
}

std::vector<const CaseResult*> CaseSample::worst_witnesses(std::size_t most) const {
  std::vector<const CaseResult*> found;
  for (const CaseResult* const result : by_importance())
    if (result->verdict.witness) found.push_back(result);
  std::stable_sort(found.begin(), found.end(), [](const CaseResult* a, const CaseResult* b) {
    return is_worse_ratio(a->verdict.worst_ratio, b->verdict.worst_ratio);
  });
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace attest::reports
