// Numbered tasks on several threads, each on a thread of its own.
//
// A thread of its own, because some wrong kernels count their calls in a thread_local: what one
// task finds must not depend on which task its thread had before.
#pragma once

#include <atomic>
#include <functional>

#include "attest/problem.hpp"

namespace attest::selftest {

/// Runs task(0) .. task(count - 1), `jobs` at a time. `done` is called on the calling thread with
/// the number of finished tasks, whenever that has changed. No task begins once *stop is set.
/// What a task throws is thrown again, once all have ended.
void in_threads(Index count, int jobs, const std::atomic<bool>* stop,
                const std::function<void(Index)>& task, const std::function<void(Index)>& done);

}  // namespace attest::selftest
