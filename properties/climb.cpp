#include "properties/climb.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "properties/check.hpp"
#include "properties/climb_start.hpp"
#include "properties/in_parallel.hpp"
#include "properties/moves_values.hpp"

namespace attest::properties {
namespace {

constexpr std::uint64_t kEpisodeStream = 0xC11'3B00;
constexpr std::uint64_t kRandomStream = 0xC11'3B01;

/// A draw of its own for every law, type and number.
SeededDraw numbered_draw(const ClimbPlan& plan, std::uint64_t stream, Index number) {
  return SeededDraw(case_seed(mixed_seed(plan.seed, stream, static_cast<std::uint64_t>(plan.dtype)),
                              *plan.law, number));
}

struct EpisodePlan {
  const ClimbPlan& climb;
  const std::optional<Climbed>& known;  ///< best case of all rounds before
  Index number = 0;
  Index budget = 0;
  const OutOfTime& out_of_time;
};

/// One start and the climb from it.
class Episode {
 public:
  explicit Episode(const EpisodePlan& plan)
      : plan_(plan), draw_(numbered_draw(plan.climb, kEpisodeStream, plan.number)) {}

  void run() {
    begin();
    while (open()) {
      if (climb()) improve_at_the_end();
      if (open()) kick();
    }
  }

  const std::optional<Climbed>& best() const { return best_; }
  /// Judged once; the one that finds it ends the episode.
  const std::optional<ClimbViolation>& violation() const { return violation_; }
  Index used() const { return used_; }
  bool cut() const { return cut_; }

 private:
  static constexpr double kUnusable = -1;
  static constexpr double kLargestStep = 4;
  static constexpr double kSmallestStep = 0x1p-54;
  static constexpr int kStarts = 24;
  static constexpr Index kPatience = 160;  ///< evaluations without a better case

  bool open() {
    if (!cut_) cut_ = plan_.out_of_time();
    return used_ < plan_.budget && !cut_ && !violation_;
  }

  /// Precondition: open().
  double judge(const Case& on) {
    ++used_;
    Verdict verdict = check_once(*plan_.climb.kernel, *plan_.climb.law, on);
    // A bound that would accept a stand-in is no measure of an error.
    const double ratio = verdict.outcome == Outcome::ok ? verdict.worst_ratio : kUnusable;
    if (is_violation(verdict.outcome)) violation_ = ClimbViolation{on, std::move(verdict)};
    return ratio;
  }

  void keep(const Case& on, double ratio, Stage stage) {
    if (ratio < 0 || (best_ && ratio <= best_->ratio)) return;
    best_ = Climbed{on, ratio, used_, stage};
  }

  /// Whether the current case was replaced, by one that is at least as bad for the kernel.
  bool take(Case&& candidate, Stage stage) {
    const double ratio = judge(candidate);
    if (ratio < 0 || ratio < ratio_) return false;
    const bool better = ratio > ratio_;
    current_ = std::move(candidate);
    ratio_ = ratio;
    keep(current_, ratio_, stage);
    return better;
  }

  void begin() {
    if (plan_.known && plan_.number % 2 == 1) {
      current_ = plan_.known->value;
      kick();
      return;
    }
    current_ = draw_start(plan_.climb, draw_);
    for (int i = 0; i < kStarts && open(); ++i)
      take(draw_start(plan_.climb, draw_), Stage::structured);
  }

  /// Leaves a case that no stage improves: several moves at once, accepted whatever they give.
  void kick() {
    Case kicked = best_ ? best_->value : current_;
    for (Index moves = draw_.between(1, 4); moves > 0; --moves)
      apply_some_move(kicked, draw_, 0.25);
    if (!open()) return;
    step_ = 0x1p-2;
    ratio_ = judge(kicked);
    if (ratio_ >= 0) {
      current_ = std::move(kicked);
      keep(current_, ratio_, Stage::moves);
    } else if (best_) {
      current_ = best_->value;
      ratio_ = best_->ratio;
    }
  }

  /// The evolution strategy, until nothing better comes for a while. False: the episode is over.
  bool climb() {
    Index since = 0;
    while (since < kPatience && open()) {
      Case candidate = current_;
      const Index moves = draw_.chance(70) ? 1 : draw_.between(2, 3);
      for (Index i = 0; i < moves; ++i) apply_some_move(candidate, draw_, step_);
      const bool better = take(std::move(candidate), Stage::moves);
      // 1/5 rule: one success in five leaves the step as it is.
      step_ = std::clamp(step_ * (better ? 1.5 : 0.9036), kSmallestStep, kLargestStep);
      if (step_ < 0x1p-24 && draw_.chance(2)) step_ = 0x1p-2;
      since = better ? 0 : since + 1;
    }
    return open();
  }

  void improve_at_the_end() {
    if (plan_.climb.law->check == &bound_out && open()) {
      ++used_;  // the run that shows the weights
      if (auto aligned = with_signs_of_weight_errors(*plan_.climb.kernel, current_, draw_))
        if (open()) take(std::move(*aligned), Stage::sign_of_v);
    }
    // A case with many numbers has more neighbours than an episode has evaluations.
    bool better = true;
    while (better && open()) {
      better = false;
      const Index count = ulp_neighbours(current_);
      for (Index i = 0; i < count && open(); ++i)
        if (auto neighbour = ulp_neighbour(current_, i))
          better = take(std::move(*neighbour), Stage::neighbourhood) || better;
    }
  }

  EpisodePlan plan_;
  SeededDraw draw_;
  Case current_;
  double ratio_ = kUnusable;
  double step_ = 0.5;
  Index used_ = 0;
  bool cut_ = false;
  std::optional<Climbed> best_;
  std::optional<ClimbViolation> violation_;
};

/// Nothing where the two oracles contradict each other, which is no verdict about the kernel.
std::optional<ClimbViolation> confirmed(const ClimbPlan& plan, ClimbViolation found) {
  found.verdict = confirm(*plan.kernel, *plan.law, found.value, std::move(found.verdict));
  if (!is_violation(found.verdict.outcome)) return std::nullopt;
  return found;
}

}  // namespace

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::stored:
      return "stored";
    case Stage::structured:
      return "families";
    case Stage::moves:
      return "moves";
    case Stage::sign_of_v:
      return "sign of v";
    case Stage::neighbourhood:
      break;
  }
  return "one ulp";
}

bool can_be_climbed(const Law& law) {
  constexpr std::array<LawFunction, 7> kLaws{
      bound_out, bound_lse, gradient_dq, gradient_dk, gradient_dv, gradient_dbias, gradient_dsink};
  return std::find(kLaws.begin(), kLaws.end(), law.check) != kLaws.end();
}

Climb::Climb(const ClimbPlan& plan, std::optional<Climbed> start, Index evaluations)
    : plan_(plan), best_(std::move(start)), evaluations_(evaluations) {
  // The rounds of an earlier run are not run again; one that was cut counts as a whole one.
  const Index rounds = (evaluations + kRoundEvaluations - 1) / kRoundEvaluations;
  next_episode_ = rounds * kEpisodesInRound;
}

bool Climb::run_round(Index evaluations, int jobs, const OutOfTime& out_of_time) {
  std::vector<std::optional<Episode>> episodes(kEpisodesInRound);
  const std::optional<Climbed> known = best_;
  Index left = evaluations;
  for (auto& episode : episodes) {
    const Index budget = std::clamp(left, Index{0}, kEpisodeEvaluations);
    left -= budget;
    episode.emplace(EpisodePlan{plan_, known, next_episode_++, budget, out_of_time});
  }
  in_parallel(kEpisodesInRound, jobs,
              [&](Index i) { episodes[static_cast<std::size_t>(i)]->run(); });
  for (const auto& episode : episodes) {
    if (const auto& best = episode->best(); best && (!best_ || best->ratio > best_->ratio)) {
      // Near a bound both oracles must agree that it is this near.
      Verdict verdict = check_case(*plan_.kernel, *plan_.law, best->value);
      if (is_violation(verdict.outcome)) {
        violation_ = ClimbViolation{best->value, std::move(verdict)};
      } else if (verdict.outcome == Outcome::ok && (!best_ || verdict.worst_ratio > best_->ratio)) {
        best_ = best;
        best_->ratio = verdict.worst_ratio;
        best_->evaluation += evaluations_;
      }
    }
    evaluations_ += episode->used();
    if (episode->violation() && !violation_) violation_ = confirmed(plan_, *episode->violation());
    // What comes after an episode that did not end is no part of the prefix.
    if (violation_ || episode->cut()) return false;
  }
  return true;
}

bool RandomTesting::run(Index evaluations, int jobs, const OutOfTime& out_of_time) {
  constexpr Index kBlock = 64;
  const Index blocks = (evaluations + kBlock - 1) / kBlock;
  struct Found {
    double ratio = 0;
    Index used = 0;
    std::optional<ClimbViolation> violation;
  };
  std::vector<Found> found(static_cast<std::size_t>(blocks));
  in_parallel(blocks, jobs, [&](Index block) {
    Found& of = found[static_cast<std::size_t>(block)];
    const Index begin = block * kBlock;
    const Index end = std::min(begin + kBlock, evaluations);
    for (Index i = begin; i < end && !of.violation && !out_of_time(); ++i, ++of.used) {
      SeededDraw draw = numbered_draw(plan_, kRandomStream, evaluations_ + i);
      const Case drawn =
          kind_ == RandomKind::normal ? draw_normal(plan_, draw) : draw_within(plan_, draw);
      Verdict verdict = check_once(*plan_.kernel, *plan_.law, drawn);
      if (verdict.outcome == Outcome::ok) of.ratio = std::max(of.ratio, verdict.worst_ratio);
      if (is_violation(verdict.outcome)) of.violation = ClimbViolation{drawn, std::move(verdict)};
    }
  });
  for (Index block = 0; block < blocks; ++block) {
    const Found& of = found[static_cast<std::size_t>(block)];
    ratio_ = std::max(ratio_, of.ratio);
    evaluations_ += of.used;
    if (of.violation) violation_ = confirmed(plan_, *of.violation);
    if (violation_ || of.used < std::min(kBlock, evaluations - block * kBlock)) return false;
  }
  return true;
}

}  // namespace attest::properties
