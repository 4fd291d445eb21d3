#include "properties/check.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "properties/hash.hpp"
#include "properties/judge.hpp"
#include "properties/values.hpp"

namespace attest::properties {
namespace {

struct Task {
  std::size_t law = 0;  ///< position in the plan
  Index number = 0;
  Index of = 0;
  const Case* given = nullptr;  ///< null: drawn
  std::uint64_t seed = 0;
  bool of_this_shard = true;
};

/// The tasks of a plan by number, without a list of them: a run may have millions.
class Tasks {
 public:
  explicit Tasks(const CheckPlan& plan) : plan_(plan) {
    for (const Law* const law : plan.laws) {
      OfLaw of{size_, {}, 0};
      for (const GivenCase& given : plan.given)
        if (given.law.empty() || given.law == law->name) of.given.push_back(&given.value);
      of.count = static_cast<Index>(of.given.size()) + plan.drawn_cases;
      if (!law->depends_on_case) of.count = std::min(of.count, Index{1});
      size_ += static_cast<std::size_t>(of.count);
      laws_.push_back(std::move(of));
    }
  }

  std::size_t size() const { return size_; }
  /// Precondition: t < size().
  Task at(std::size_t t) const {
    const auto after =
        std::upper_bound(laws_.begin(), laws_.end(), t,
                         [](std::size_t number, const OfLaw& of) { return number < of.first; });
    const OfLaw& of = *std::prev(after);
    Task task{static_cast<std::size_t>(std::prev(after) - laws_.begin()),
              static_cast<Index>(t - of.first),
              of.count,
              nullptr,
              0,
              true};
    const auto given = static_cast<Index>(of.given.size());
    if (task.number < given)
      task.given = of.given[static_cast<std::size_t>(task.number)];
    else
      task.seed = case_seed(plan_.seed, *plan_.laws[task.law], task.number - given);
    task.of_this_shard = in_shard(*plan_.laws[task.law], task.number);
    return task;
  }

 private:
  struct OfLaw {
    std::size_t first = 0;
    std::vector<const Case*> given;
    Index count = 0;
  };

  /// By law and number alone, so that a run with other laws splits the same way.
  bool in_shard(const Law& law, Index number) const {
    const auto count = static_cast<std::uint64_t>(plan_.shard.count);
    if (count == 1) return true;
    const std::uint64_t hash = mixed_seed(fnv1a(law.name), static_cast<std::uint64_t>(number), 0);
    return hash % count == static_cast<std::uint64_t>(plan_.shard.index - 1);
  }

  const CheckPlan& plan_;
  std::vector<OfLaw> laws_;
  std::size_t size_ = 0;
};

constexpr std::size_t kMaxAhead = 2048;
constexpr std::uint64_t kRedraws = 3;
constexpr std::string_view kRedrawFamily = "normal";

/// Worker threads fill slots in any order; the calling thread takes them in order.
class Pool {
 public:
  Pool(const Kernel& kernel, const CheckPlan& plan)
      : kernel_(kernel),
        plan_(plan),
        tasks_(plan),
        results_(std::min(tasks_.size(), kMaxAhead)),
        left_(plan.laws.size()) {
    for (int job = 0; job < std::max(1, plan.jobs); ++job)
      workers_.emplace_back([this] { work(); });
  }

  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  /// A sink that throws leaves tasks behind: workers that wait for room must not wait for ever.
  ~Pool() {
    for (std::atomic<bool>& left : left_) left = true;
    const std::lock_guard lock(mutex_);
    taken_ = tasks_.size();
    taken_changed_.notify_all();
  }

  bool deliver(const std::function<AfterCase(CheckedCase&&)>& sink) {
    bool complete = true;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      std::optional<CheckedCase> result = take(t);
      const Task task = tasks_.at(t);
      const std::size_t law = task.law;
      if (left_[law] || !task.of_this_shard) continue;
      if (!result) {
        complete = false;
        continue;
      }
      const AfterCase after = sink(std::move(*result));
      if (after != AfterCase::next) left_[law] = true;
      if (after != AfterCase::stop_run) continue;
      for (std::atomic<bool>& left : left_) left = true;
      complete = false;
    }
    return complete;
  }

 private:
  struct Slot {
    bool done = false;
    std::optional<CheckedCase> result;
  };

  bool out_of_time() const {
    return (plan_.stop != nullptr && *plan_.stop) ||
           (plan_.deadline && std::chrono::steady_clock::now() >= *plan_.deadline);
  }

  void work() {
    for (std::size_t t = next_++; t < tasks_.size(); t = next_++) {
      wait_for_room(t);
      std::optional<CheckedCase> result;
      const Task task = tasks_.at(t);
      if (task.of_this_shard && !left_[task.law] && !out_of_time()) result = compute(task);
      const std::lock_guard lock(mutex_);
      results_[t % kMaxAhead] = {true, std::move(result)};
      filled_.notify_one();
    }
  }

  /// Workers do not run far ahead of the sink, which may be busy shrinking: their cases take
  /// memory.
  void wait_for_room(std::size_t t) {
    std::unique_lock lock(mutex_);
    taken_changed_.wait(lock, [&] { return t < taken_ + kMaxAhead; });
  }

  CheckedCase compute(const Task& task) const {
    const Law& law = *plan_.laws[task.law];
    CheckedCase checked{&law, task.number, task.of, task.seed, {}, {}, 0};
    const auto begin = std::chrono::steady_clock::now();
    if (task.given != nullptr) {
      checked.value = *task.given;
    } else {
      SeededDraw draw(task.seed);
      checked.value = draw_case(draw, plan_.limits);
    }
    checked.verdict = check_case(kernel_, law, checked.value);
    if (task.given == nullptr) move_away_from_weakness(law, checked);
    checked.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return checked;
  }

  /// A drawn case that could not have failed is given other values a few times; the first that
  /// could have takes its place. A function of the seed of the draw alone.
  void move_away_from_weakness(const Law& law, CheckedCase& checked) const {
    if (law.check != bound_out && law.check != bound_lse) return;
    for (std::uint64_t attempt = 1; attempt <= kRedraws && checked.verdict.outcome == Outcome::weak;
         ++attempt) {
      Case other = checked.value;
      const std::uint64_t seed = mixed_seed(checked.seed, fnv1a(kRedrawFamily), attempt);
      fill_family(other, kRedrawFamily, seed);
      share_values(other);
      other.values = {ValueRecipe::Kind::family, std::string(kRedrawFamily), seed, {}, {}, {}};
      Verdict verdict = check_case(kernel_, law, other);
      if (verdict.outcome == Outcome::weak) continue;
      checked.value = std::move(other);
      checked.verdict = std::move(verdict);
    }
  }

  std::optional<CheckedCase> take(std::size_t t) {
    std::unique_lock lock(mutex_);
    Slot& slot = results_[t % kMaxAhead];
    filled_.wait(lock, [&] { return slot.done; });
    taken_ = t + 1;
    taken_changed_.notify_all();
    return std::exchange(slot, Slot{}).result;
  }

  const Kernel& kernel_;
  const CheckPlan& plan_;
  Tasks tasks_;
  std::vector<Slot> results_;  ///< a ring: a task's slot is its number modulo kMaxAhead
  std::vector<std::atomic<bool>> left_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable taken_changed_;
  std::size_t taken_ = 0;              ///< tasks that the sink has been given
  std::vector<std::jthread> workers_;  // last: joined before what they use is destroyed
};

}  // namespace

bool run_check(const Kernel& kernel, const CheckPlan& plan,
               const std::function<AfterCase(CheckedCase&&)>& sink) {
  return Pool(kernel, plan).deliver(sink);
}

Verdict check_once(const Kernel& kernel, const Law& law, const Case& on) {
  try {
    return law.check(kernel, on);
  } catch (const std::exception& problem) {
    return Verdict::of(Outcome::crash, std::string("exception: ") + problem.what());
  }
}

Verdict confirm(const Kernel& kernel, const Law& law, const Case& on, Verdict first) {
  const reference::BothOracles both;
  Verdict again = check_once(kernel, law, on);
  // A kernel that does not fail twice is not acquitted; a contradiction of the oracles is no
  // verdict about it.
  if (!is_violation(first.outcome) || is_violation(again.outcome) ||
      again.outcome == Outcome::unproven)
    return again;
  first.outcome = Outcome::flaky;
  first.reason += first.reason.empty() ? "" : "; ";
  first.reason += "a second run of the same case passed";
  return first;
}

Verdict check_case(const Kernel& kernel, const Law& law, const Case& on) {
  Verdict verdict = check_once(kernel, law, on);
  // To wait a second time would tell nothing about the oracles.
  if (verdict.outcome == Outcome::timeout) return verdict;
  if (is_violation(verdict.outcome) ||
      (verdict.outcome == Outcome::ok && verdict.worst_ratio >= kNearBound))
    return confirm(kernel, law, on, std::move(verdict));
  return verdict;
}

CaseLimits limits_for(const Kernel& kernel, const tensors::TensorLibrary* library) {
  const Capabilities& can = kernel.description().capabilities;
  CaseLimits limits;
  if (!can.dtypes.empty()) limits.dtypes = can.dtypes;
  limits.grouped_heads = can.grouped_heads;
  limits.key_lengths = can.key_lengths;
  limits.mask_bits = can.mask_bits;
  limits.lse = can.lse;
  limits.reject = can.reject;
  limits.features = can.features;
  limits.library = library;
  return limits;
}

std::uint64_t case_seed(std::uint64_t seed, const Law& law, Index number) {
  // By its name, so that a law's cases do not depend on its place in the catalogue.
  return mixed_seed(seed, fnv1a(law.name), static_cast<std::uint64_t>(number));
}

}  // namespace attest::properties
