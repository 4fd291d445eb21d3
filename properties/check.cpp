#include "properties/check.hpp"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "reference/oracle.hpp"

namespace attest::properties {
namespace {

/// FNV-1a, so that a law's cases do not depend on its place in the catalogue.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

struct Task {
  std::size_t law = 0;  ///< position in the plan
  Index number = 0;
  Index of = 0;
  const Case* given = nullptr;  ///< null: drawn
  std::uint64_t seed = 0;
};

std::vector<Task> make_tasks(const CheckPlan& plan) {
  std::vector<Task> tasks;
  for (std::size_t l = 0; l < plan.laws.size(); ++l) {
    const Law& law = *plan.laws[l];
    const std::size_t first = tasks.size();
    Index number = 0;
    for (const GivenCase& given : plan.given)
      if (given.law.empty() || given.law == law.name)
        tasks.push_back({l, number++, 0, &given.value, 0});
    for (Index drawn = 0; drawn < plan.drawn_cases; ++drawn)
      tasks.push_back({l, number++, 0, nullptr, case_seed(plan.seed, law, drawn)});
    if (!law.depends_on_case && number > 1) {
      tasks.resize(first + 1);
      number = 1;
    }
    for (std::size_t t = first; t < tasks.size(); ++t) tasks[t].of = number;
  }
  return tasks;
}

constexpr std::size_t kMaxAhead = 2048;

/// Worker threads fill slots in any order; the calling thread takes them in order.
class Pool {
 public:
  Pool(const Kernel& kernel, const CheckPlan& plan)
      : kernel_(kernel),
        plan_(plan),
        tasks_(make_tasks(plan)),
        results_(tasks_.size()),
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
      if (left_[tasks_[t].law]) continue;
      if (!result) {
        complete = false;
        continue;
      }
      const AfterCase after = sink(std::move(*result));
      if (after != AfterCase::next) left_[tasks_[t].law] = true;
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
      if (!left_[tasks_[t].law] && !out_of_time()) result = compute(tasks_[t]);
      const std::lock_guard lock(mutex_);
      results_[t] = {true, std::move(result)};
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
    checked.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return checked;
  }

  std::optional<CheckedCase> take(std::size_t t) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return results_[t].done; });
    taken_ = t + 1;
    taken_changed_.notify_all();
    return std::exchange(results_[t].result, std::nullopt);
  }

  const Kernel& kernel_;
  const CheckPlan& plan_;
  std::vector<Task> tasks_;
  std::vector<Slot> results_;
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

Verdict check_case(const Kernel& kernel, const Law& law, const Case& on) {
  try {
    Verdict verdict = law.check(kernel, on);
    if (!is_violation(verdict.outcome)) return verdict;
    // Every failure is judged once more, by both oracles.
    const reference::BothOracles both;
    return law.check(kernel, on);
  } catch (const std::exception& problem) {
    return Verdict::of(Outcome::crash, std::string("exception: ") + problem.what());
  }
}

CaseLimits limits_for(const Kernel& kernel, const tensors::TensorLibrary* library) {
  const Capabilities& can = kernel.description().capabilities;
  CaseLimits limits;
  if (!can.dtypes.empty()) limits.dtypes = can.dtypes;
  limits.grouped_heads = can.grouped_heads;
  limits.key_lengths = can.key_lengths;
  limits.mask_bits = can.mask_bits;
  limits.lse = can.lse;
  limits.library = library;
  return limits;
}

std::uint64_t case_seed(std::uint64_t seed, const Law& law, Index number) {
  return mixed_seed(seed, hash_of(law.name), static_cast<std::uint64_t>(number));
}

}  // namespace attest::properties
