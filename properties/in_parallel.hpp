// Independent pieces of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "attest/status.hpp"

namespace attest::properties {

/// body(number) for all numbers below `count`, each once, in any order and on at most `jobs`
/// threads, the calling one among them; returns when all are done.
template <class Body>
void in_parallel(Index count, int jobs, const Body& body) {
  std::atomic<Index> next{0};
  const auto work = [&] {
    for (Index i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::jthread> others;
  for (int job = 1; job < std::min<Index>(jobs, count); ++job) others.emplace_back(work);
  work();
}

}  // namespace attest::properties
