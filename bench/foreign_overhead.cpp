// What a process of its own costs a foreign kernel: the same call, in turn, of a shared object in
// this process and in a worker, of a program behind a pipe, and of a program that computes nothing.
//
//   foreign_overhead ATTEST PLUGIN.so COMMAND NOTHING [ROUNDS]
//   bench/foreign_overhead.sh BUILD      runs it with the examples
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attest/kernel.hpp"
#include "attest/random.hpp"
#include "attest/tensor.hpp"
#include "foreign/pipe_kernel.hpp"
#include "foreign/plugin.hpp"

using namespace attest;

namespace {

struct Row {
  std::string what;
  std::unique_ptr<Kernel> kernel;
  std::vector<double> seconds;

  double median() {
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
  }
};

Tensor random_tensor(const Extents& extents, std::uint64_t seed) {
  Tensor tensor(Dtype::f32, extents);
  SplitMix64 bits(seed);
  for_each_index(extents, [&](Index b, Index h, Index row, Index column) {
    tensor.set(b, h, row, column, static_cast<double>(bits.next() >> 40) * 0x1p-23 - 1);
  });
  return tensor;
}

class Call {
 public:
  Call() {
    problem_.heads_q = problem_.heads_kv = 8;
    problem_.seq_q = problem_.seq_kv = 1024;
    problem_.head_dim = problem_.head_dim_v = 64;
    q_ = random_tensor(problem_.q_extents(), 1);
    k_ = random_tensor(problem_.k_extents(), 2);
    v_ = random_tensor(problem_.v_extents(), 3);
    out_ = Tensor(Dtype::f32, problem_.out_extents());
  }

  double seconds_of(const Kernel& kernel) {
    ForwardViews views;
    views.q = std::as_const(q_).ref();
    views.k = std::as_const(k_).ref();
    views.v = std::as_const(v_).ref();
    views.out = out_.ref();
    const auto begin = std::chrono::steady_clock::now();
    const Status status = kernel.forward(problem_, kernel.preferred_tiling(problem_), views);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (!status.ok()) {
      fmt::print(stderr, "foreign_overhead: {}\n", status.message());
      std::exit(1);
    }
    return taken.count();
  }

 private:
  Problem problem_;
  Tensor q_, k_, v_, out_;
};

Row opened(std::string what, Result<std::unique_ptr<Kernel>> kernel) {
  if (!kernel.ok()) {
    fmt::print(stderr, "foreign_overhead: {}\n", kernel.status().message());
    std::exit(1);
  }
  return {std::move(what), std::move(kernel).value(), {}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "foreign_overhead ATTEST PLUGIN.so COMMAND NOTHING [ROUNDS]\n");
    return 2;
  }
  const int rounds = argc > 5 ? std::max(1, std::atoi(argv[5])) : 15;
  std::vector<Row> rows;
  rows.push_back(opened("shared object, this process", foreign::open_plugin(argv[2])));
  rows.push_back(opened("shared object, worker", foreign::open_in_worker(argv[1], argv[2], {})));
  rows.push_back(opened("pipe", foreign::open_pipe(argv[3], {})));
  rows.push_back(opened("pipe, nothing computed", foreign::open_pipe(argv[4], {})));
  Call call;
  for (Row& row : rows) call.seconds_of(*row.kernel);  // warm
  for (int round = 0; round < rounds; ++round)
    for (Row& row : rows) row.seconds.push_back(call.seconds_of(*row.kernel));
  fmt::print("1x8:1024x1024:64 f32, median of {} calls\n", rounds);
  for (Row& row : rows) fmt::print("{:<28} {:8.2f} ms\n", row.what, 1e3 * row.median());
  fmt::print("a worker adds {:.1f} % to the call\n",
             100 * (rows[1].median() / rows[0].median() - 1));
  fmt::print("of a call over the pipe {:.1f} % are the pipe\n",
             100 * rows[3].median() / rows[2].median());
  return 0;
}
