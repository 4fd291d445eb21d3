// Calls of a kernel that runs in processes of its own: a program behind a pipe, or a worker of this
// program that loads a shared object. One process a thread that calls, started when it is needed
// and again after it failed (docs/pipe-protocol.md).
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "foreign/calls.hpp"
#include "foreign/child_process.hpp"
#include "foreign/description_json.hpp"
#include "foreign/messages.hpp"
#include "foreign/shared_file.hpp"

namespace attest::foreign {

/// What a call may take.
struct CallLimits {
  std::chrono::duration<double> time{60};  ///< of each call, and of the start of a process
  Index memory_mib = 8192;                 ///< of data that a process may have; 0: no limit
};

/// Who is spoken to.
struct Peer {
  std::vector<std::string> words;  ///< the program and its arguments
  bool is_worker = false;          ///< `attest worker`: takes every fact from the problem text
};

class PipeCalls final : public ForeignCalls {
 public:
  /// Starts a process and asks what its kernel is.
  /// Errors: io_error, with one line, where it cannot be started, ends, gives no answer, or answers
  /// what the protocol does not have.
  static Result<std::unique_ptr<PipeCalls>> open(Peer peer, CallLimits limits);

  const Description& description() const { return description_; }

  bool has_merge() const noexcept override { return description_.calls.merge; }
  bool has_partial() const noexcept override { return description_.calls.partial; }
  Status forward(const Problem& problem, const Tiling& tiling, const ForwardViews& views,
                 bool with_tiles) const override;
  Status backward(const Problem& problem, const Tiling& tiling, const BackwardViews& views,
                  bool with_tiles) const override;
  Status partial(const Problem& problem, KeyRange keys, const ForwardViews& inputs,
                 const attest_part& part) const override;
  Status merge(const Problem& problem, const attest_part& left, const attest_part& right,
               const attest_part& part) const override;
  Status accuracy(const Problem& problem, attest_accuracy& stated) const override;

 private:
  struct Process {
    std::unique_ptr<ChildProcess> child;
    int threads = 0;    ///< last told; 0: none
    SharedFile shared;  ///< open where the program takes it
  };

  PipeCalls(Peer peer, CallLimits limits) : peer_(std::move(peer)), limits_(limits) {}

  Result<Process> start() const;
  /// One that is idle, or a new one.
  Result<Process> take() const;
  void give_back(Process process) const;

  /// A request and its reply, with the results copied back. The process is kept unless it ended.
  Status call(OutgoingRequest request, const Problem* problem, const Tiling* tiling,
              bool with_tiles, std::vector<WireTensor> tensors, Reply& reply) const;
  Status call_process(const OutgoingRequest& request, const std::vector<WireTensor>& tensors,
                      Reply& reply) const;
  Status call_and_copy(Process& process, const OutgoingRequest& request,
                       const std::vector<WireTensor>& tensors, Reply& reply) const;
  Status call_near(Process& process, const OutgoingRequest& request,
                   const std::vector<WireTensor>& tensors, Reply& reply) const;
  /// `process` is lost where the status is that of an ending.
  Status exchange(Process& process, const OutgoingRequest& request, const OutgoingFrame& frame,
                  const FrameLimits& limits, Frame& answer, Reply& reply) const;
  Status tell_threads(Process& process) const;
  Status status_of_ending(const Ending& ending) const;

  Peer peer_;
  CallLimits limits_;
  Description description_;
  mutable std::mutex idle_mutex_;
  mutable std::vector<Process> idle_;
  mutable std::atomic<std::int64_t> last_id_{0};
  mutable std::atomic<int> timeouts_in_a_row_{0};
};

}  // namespace attest::foreign
