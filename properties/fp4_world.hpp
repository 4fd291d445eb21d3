// A small world, exhaustively: every FP4 (e2m1) input of one query, up to three keys, dimension 1.
//
// An input is (q, k_0 .. k_n-1, v_0 .. v_n-1), 16^(2n+1) of them. The kernel is run on every one of
// them: the 16^n value tuples of a pair (q, k) are the output columns of one call. Pairs with the
// same exact scores share their truth, not their run; up to kMostPairs of them are a group.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attest/error_bound.hpp"
#include "attest/kernel.hpp"
#include "attest/verdict.hpp"
#include "properties/case.hpp"
#include "properties/judge.hpp"

namespace attest::properties {

/// All 16 codes of e2m1 (OCP Microscaling Formats 1.0, 2023): exact in f32.
inline constexpr std::array<double, 16> kFp4{0,   0.5,  1,  1.5,  2,  3,  4,  6,
                                             -0., -0.5, -1, -1.5, -2, -3, -4, -6};

class Fp4World {
 public:
  static constexpr Index kMaxKeys = 3;
  static constexpr std::size_t kMostPairs = 8;  ///< of a group

  /// Precondition: 1 <= keys <= kMaxKeys.
  explicit Fp4World(Index keys);

  Index keys() const { return keys_; }
  Index columns() const { return columns_; }           ///< 16^keys value tuples
  Index pairs() const { return columns_ * 16; }        ///< (q, k)
  Index inputs() const { return pairs() * columns_; }  ///< 16^(2 keys + 1)
  Index groups() const { return static_cast<Index>(groups_.size()); }
  /// Pairs with the same exact scores, ascending; groups are in the order of their first pair.
  const std::vector<Index>& pairs_of(Index group) const {
    return groups_[static_cast<std::size_t>(group)];
  }

  double query(Index pair) const { return code(pair / columns_); }
  double key(Index pair, Index j) const { return code(pair >> (4 * j)); }
  double value(Index column, Index j) const { return code(column >> (4 * j)); }

  /// One pair with all value tuples as columns.
  Case wide_case(Index pair) const;
  /// One input alone.
  Case single_case(Index pair, Index column, const Tiling& tiling) const;
  /// Overwrites q and k of a wide case.
  void set_pair(Case& wide, Index pair) const;

  /// The exact row of wide_case(pair). Nothing when the oracle refuses, which no e2m1 input makes
  /// it do.
  std::optional<RowFacts> exact_row(Index pair) const;

 private:
  static double code(Index number) { return kFp4[static_cast<std::size_t>(number & 15)]; }

  Index keys_;
  Index columns_;
  std::vector<std::vector<Index>> groups_;
};

/// One element of the world, under one of the tilings of a run.
struct WorldElement {
  Part part = Part::out;
  Index pair = 0;
  Index column = 0;  ///< 0 for the lse
  std::size_t tiling = 0;
  double ratio = 0;  ///< error / bound; infinite for NaN
  Witness witness;
};

/// What was found in some groups of a world.
struct WorldTally {
  Index outputs = 0;        ///< compared
  Index lse_values = 0;     ///< compared
  Index violations = 0;     ///< of both
  Index undecided = 0;      ///< of both: no proven bound, or an enclosure that is too wide
  Index uninformative = 0;  ///< outputs whose bound is not smaller than sum_j p_j |v_j|
  std::optional<WorldElement> worst_out;
  std::optional<WorldElement> worst_lse;
  std::optional<WorldElement> first_violation;
  std::string failure;  ///< why a call gave no outputs; empty: none failed

  /// Appends what was found in later groups: on a tie the earlier element stays, so that the sum
  /// over groups in their order does not depend on who judged them.
  void append(const WorldTally& later);
};

/// Judges groups for one kernel. Not shared between threads.
class WorldJudge {
 public:
  /// All arguments are kept by reference.
  WorldJudge(const Fp4World& world, const Kernel& kernel, std::span<const Tiling> tilings);

  WorldTally judge(Index group);

 private:
  /// Tilings that differ in empty splits alone have the same bound.
  struct Limit {
    RowBound bound;
    Index uninformative = 0;
  };

  bool nothing_new(const float* out, const Limit& limit, Index block,
                   const std::optional<WorldElement>& worst) const;
  void judge_call(WorldTally& tally, const RowFacts& facts, const Limit& limit,
                  const Outputs& outputs, const WorldElement& place) const;

  const Fp4World& world_;
  const Kernel& kernel_;
  std::span<const Tiling> tilings_;
  Case wide_;
  DeclaredAccuracy accuracy_;
  std::vector<Tiling> cuts_;           ///< the tilings without empty splits, each once
  std::vector<std::size_t> limit_of_;  ///< position in cuts_ and limits_, per tiling
  std::vector<Limit> limits_;
  std::vector<double> want_;    ///< middle of the exact outputs of a group
  std::vector<double> radius_;  ///< of the same
};

struct WorldPlan {
  const Fp4World* world = nullptr;
  const Kernel* kernel = nullptr;
  std::vector<Tiling> tilings;
  Index first_group = 0;
  int jobs = 1;
  const std::atomic<bool>* stop = nullptr;  ///< set: no new group
};

/// Hands the tally of every group from first_group on to `sink`, on the calling thread and in the
/// order of the groups. Returns the first group that was not judged.
Index run_world(const WorldPlan& plan, const std::function<void(const WorldTally&)>& sink);

}  // namespace attest::properties
