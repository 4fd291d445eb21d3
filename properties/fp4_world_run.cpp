#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "properties/fp4_world.hpp"

namespace attest::properties {
namespace {

/// Workers do not run far ahead of the sink, so that a stop takes effect soon everywhere.
constexpr Index kMaxAhead = 64;

/// Worker threads judge groups in any order; the calling thread takes them in order.
class WorldPool {
 public:
  explicit WorldPool(const WorldPlan& plan)
      : plan_(plan),
        next_(plan.first_group),
        taken_(plan.first_group),
        working_(std::max(1, plan.jobs)) {
    for (int job = 0; job < std::max(1, plan.jobs); ++job)
      workers_.emplace_back([this] { work(); });
  }

  Index deliver(const std::function<void(const WorldTally&)>& sink) {
    Index number = plan_.first_group;
    for (; std::optional<WorldTally> tally = take(number); ++number) sink(*tally);
    return number;
  }

 private:
  bool stopped() const { return sink_left_ || (plan_.stop != nullptr && *plan_.stop); }

  void work() {
    WorldJudge judge(*plan_.world, *plan_.kernel, plan_.tilings);
    while (const std::optional<Index> claimed = claim()) {
      // A group that was claimed is judged, so that those that are done have no gap.
      const Index number = *claimed;
      WorldTally tally;
      try {
        tally = judge.judge(number);
      } catch (const std::exception& problem) {
        tally.failure = std::string("exception: ") + problem.what();
      }
      const std::lock_guard lock(mutex_);
      ready_.emplace(number, std::move(tally));
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    --working_;
    changed_.notify_all();
  }

  std::optional<Index> claim() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped() || next_ < taken_ + kMaxAhead; });
    if (stopped() || next_ >= plan_.world->groups()) return std::nullopt;
    return next_++;
  }

  std::optional<WorldTally> take(Index number) {
    std::unique_lock lock(mutex_);
    taken_ = number;
    changed_.notify_all();
    changed_.wait(lock, [&] { return ready_.contains(number) || working_ == 0; });
    const auto at = ready_.find(number);
    if (at == ready_.end()) return std::nullopt;
    WorldTally tally = std::move(at->second);
    ready_.erase(at);
    return tally;
  }

  /// A sink that throws leaves workers behind: they must neither wait nor go on for ever.
  struct AtExit {
    WorldPool& pool;
    ~AtExit() {
      const std::lock_guard lock(pool.mutex_);
      pool.sink_left_ = true;
      pool.changed_.notify_all();
    }
  };

  const WorldPlan& plan_;
  Index next_;   ///< group that the next claim gets
  Index taken_;  ///< group that the sink waits for
  bool sink_left_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Index, WorldTally> ready_;
  int working_;
  std::vector<std::jthread> workers_;  // joined before what they use is destroyed
  AtExit at_exit_{*this};              // last: destroyed before the workers are joined
};

}  // namespace

Index run_world(const WorldPlan& plan, const std::function<void(const WorldTally&)>& sink) {
  return WorldPool(plan).deliver(sink);
}

}  // namespace attest::properties
