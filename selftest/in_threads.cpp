#include "selftest/in_threads.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace attest::selftest {
namespace {

class Tasks {
 public:
  Tasks(Index count, const std::atomic<bool>* stop, const std::function<void(Index)>& task)
      : count_(count), stop_(stop), task_(task) {}

  void work() {
    for (Index number = next_++; number < count_ && !stopped(); number = next_++) {
      std::jthread([&] { run(number); }).join();
      const std::lock_guard lock(mutex_);
      ++finished_;
      changed_.notify_one();
    }
    const std::lock_guard lock(mutex_);
    ++idle_;
    changed_.notify_one();
  }

  void wait(int workers, const std::function<void(Index)>& done) {
    std::unique_lock lock(mutex_);
    for (Index told = 0; idle_ < workers || told < finished_;) {
      changed_.wait(lock, [&] { return told < finished_ || idle_ == workers; });
      if (told == finished_) break;
      told = finished_;
      lock.unlock();
      if (done) done(told);
      lock.lock();
    }
  }

  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  bool stopped() const { return stop_ != nullptr && *stop_; }

  void run(Index number) {
    try {
      task_(number);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      next_ = count_;
    }
  }

  Index count_;
  const std::atomic<bool>* stop_;
  const std::function<void(Index)>& task_;
  std::atomic<Index> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  Index finished_ = 0;
  int idle_ = 0;
  std::exception_ptr thrown_;
};

}  // namespace

void in_threads(Index count, int jobs, const std::atomic<bool>* stop,
                const std::function<void(Index)>& task, const std::function<void(Index)>& done) {
  Tasks tasks(count, stop, task);
  const int workers = std::max(1, jobs);
  std::vector<std::jthread> threads;
  for (int worker = 0; worker < workers; ++worker) threads.emplace_back([&] { tasks.work(); });
  tasks.wait(workers, done);
  threads.clear();  // waits for them
  tasks.rethrow();
}

}  // namespace attest::selftest
