// Cases kept of a run of any length: every violation and every extreme, and of the others a
// sample. What is kept depends on the cases alone, not on their order or on how they were split
// among shards.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "reports/report.hpp"

namespace attest::reports {

/// Worse in the sense of error / bound; NaN is worse than everything.
bool is_worse_ratio(double candidate, double than);

/// Texts of a case are cut to so many characters, and a replay line that is longer is left out:
/// half a line replays something else.
inline constexpr std::size_t kMaxSampledText = 512;
inline constexpr std::size_t kMaxExtremeText = 4096;

/// The worst cases of one kernel, variant and dtype.
struct VariantWorst {
  CaseResult by_ratio;
  CaseResult by_ulp;
};

class CaseSample {
 public:
  /// Of one kernel and law, beside the extremes.
  static constexpr std::size_t kPerLaw = 24;
  static constexpr std::size_t kMaxViolations = 5000;

  void add(const CaseResult& result) {
    ++total_;
    keep(result);
  }
  void add(const CaseSample& other);

  /// Cases that were added.
  std::int64_t total() const { return total_; }
  void set_total(std::int64_t total) { total_ = total; }  ///< of a sample that was read back

  /// Violations and extremes first, then the others so that every law has its share.
  std::vector<const CaseResult*> by_importance() const;

  /// The worst case of a kernel, dtype and power of two of the number of keys.
  std::vector<const CaseResult*> worst_by_keys() const;

  /// By kernel, variant and dtype, of cases that were held against a bound.
  std::vector<VariantWorst> worst_by_variant() const;

  /// Cases with a witness, worst first.
  std::vector<const CaseResult*> worst_witnesses(std::size_t most) const;

 private:
  using Rank = std::pair<std::uint64_t, std::int64_t>;  ///< hash, then number
  using OfLaw = std::map<Rank, CaseResult>;
  void keep(const CaseResult& result);
  void keep_by_variant(const CaseResult& result);

  using LawKey = std::pair<std::string, std::string>;         ///< kernel, law
  using KeysKey = std::tuple<std::string, std::string, int>;  ///< kernel, dtype, power of two

  using VariantKey = std::tuple<std::string, std::string, std::string>;

  std::map<LawKey, OfLaw> laws_;
  std::map<KeysKey, CaseResult> by_keys_;
  std::map<VariantKey, VariantWorst> by_variant_;
  std::map<std::tuple<std::string, std::string, std::int64_t>, CaseResult> violations_;
  std::int64_t total_ = 0;
};

}  // namespace attest::reports
