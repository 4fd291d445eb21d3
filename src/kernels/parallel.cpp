#include "kernels/parallel.hpp"

#include <algorithm>
#include <atomic>

#include "attest/threads.hpp"
#include "tbb/global_control.h"
#include "tbb/parallel_for.h"
#include "tbb/partitioner.h"
#include "tbb/task_arena.h"

namespace attest {
namespace {

std::atomic<int>& threads() {
  static std::atomic<int> count{1};
  return count;
}

}  // namespace

void set_thread_count(int count) {
  threads() = std::max(count, 1);
}

int thread_count() {
  return threads();
}

namespace kernels {

void for_each_piece(Index count, const std::function<void(Index)>& body) {
  if (thread_count() == 1 || count < 2) {
    for (Index piece = 0; piece < count; ++piece) body(piece);
    return;
  }
  // More threads than cores are allowed too, and without a word.
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(thread_count()));
  tbb::task_arena arena(thread_count());
  // A piece is large: each may go to another thread.
  arena.execute([&] { tbb::parallel_for(Index{0}, count, body, tbb::simple_partitioner()); });
}

}  // namespace kernels
}  // namespace attest
