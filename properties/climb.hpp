// Searches for the case of one law on one kernel whose error is the largest share of its bound.
//
// The search is a sequence of numbered episodes of at most kEpisodeEvaluations each. An episode
// is a function of the plan, its number and the best case known when its round began; rounds have
// kEpisodesInRound of them, which run side by side and are merged in order. So the result is a
// function of the plan and the number of evaluations: neither jobs nor time change it, for what
// stops a run early leaves a prefix of the sequence.
//
// Stages of an episode: cases of structured families, of which the best is kept; a (1+1) evolution
// strategy with the moves of moves_values.hpp, whose step follows the 1/5 rule; the sign of V by
// formula; all neighbours that are one ulp away. Every other episode begins at the best case.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "properties/laws.hpp"
#include "properties/random_case.hpp"

namespace attest::properties {

inline constexpr Index kEpisodeEvaluations = 1024;
inline constexpr Index kEpisodesInRound = 8;
inline constexpr Index kRoundEvaluations = kEpisodeEvaluations * kEpisodesInRound;

/// What made the best case.
enum class Stage { stored, structured, moves, sign_of_v, neighbourhood };
std::string_view to_string(Stage stage);

struct ClimbPlan {
  const Kernel* kernel = nullptr;
  const Law* law = nullptr;  ///< one that compares numbers with a bound
  Dtype dtype = Dtype::f32;  ///< of q
  std::uint64_t seed = 0;
  Index max_keys = 16;
  const tensors::TensorLibrary* library = nullptr;
  std::optional<Case> shape = {};  ///< only this problem; its values and tiling are searched
};

/// A case and its share of the bound, judged by both oracles where it is near the bound.
struct Climbed {
  Case value;
  double ratio = 0;
  Index evaluation = 0;  ///< by which it was found, counted from 1
  Stage stage = Stage::structured;
};

/// A case that violates the law, with its confirmed verdict.
struct ClimbViolation {
  Case value;
  Verdict verdict;
};

/// How a run is cut short; asked between evaluations, from several threads.
using OutOfTime = std::function<bool()>;

class Climb {
 public:
  /// `start`: the best of an earlier run of the same plan, which spent `evaluations` on it.
  explicit Climb(const ClimbPlan& plan, std::optional<Climbed> start = {}, Index evaluations = 0);

  /// One round, or what is left of it: no more than `evaluations`, until `out_of_time`.
  /// False: cut short, or a violation was found.
  bool run_round(Index evaluations, int jobs, const OutOfTime& out_of_time);

  /// Nothing while no case could be judged.
  const std::optional<Climbed>& best() const { return best_; }
  const std::optional<ClimbViolation>& violation() const { return violation_; }
  /// Those of earlier runs, too.
  Index evaluations() const { return evaluations_; }

 private:
  ClimbPlan plan_;
  std::optional<Climbed> best_;
  std::optional<ClimbViolation> violation_;
  Index evaluations_ = 0;
  Index next_episode_ = 0;
};

/// What a climb is compared with: cases of the same kernel, law and type.
enum class RandomKind {
  normal,  ///< normal values in the small shapes of the climb
  drawn,   ///< draw_case: all shapes and families, as attest check draws them
};

/// The largest ratio of random cases.
class RandomTesting {
 public:
  RandomTesting(const ClimbPlan& plan, RandomKind kind) : plan_(plan), kind_(kind) {}

  /// Draws that many cases more. False: cut short, or a violation was found.
  bool run(Index evaluations, int jobs, const OutOfTime& out_of_time);

  double ratio() const { return ratio_; }
  Index evaluations() const { return evaluations_; }
  const std::optional<ClimbViolation>& violation() const { return violation_; }

 private:
  ClimbPlan plan_;
  RandomKind kind_;
  double ratio_ = 0;
  Index evaluations_ = 0;
  std::optional<ClimbViolation> violation_;
};

/// Laws that compare one result with its certified bound: the ones that are worth climbing.
bool can_be_climbed(const Law& law);

/// The case with signs of weight errors as values (stage 3): the kernel runs once with V =
/// identity, so that its outputs are its weights. Nothing where this does not apply.
std::optional<Case> with_signs_of_weight_errors(const Kernel& kernel, const Case& of, Draw& draw);

}  // namespace attest::properties
