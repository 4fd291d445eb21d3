// One call in a worker: every tensor in memory of its own between guard pages, and after the call a
// look at what no kernel may do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attest/kernel.hpp"
#include "foreign/arithmetic_state.hpp"
#include "foreign/fault_report.hpp"
#include "foreign/frames.hpp"
#include "foreign/messages.hpp"
#include "foreign/shared_file.hpp"
#include "foreign/worker_streams.hpp"

namespace attest::foreign {

/// The data of a request: in its frame, or in shared memory.
class RequestData {
 public:
  RequestData(const ReceivedRequest& request, const Frame& frame, const SharedFile& shared)
      : frame_(frame), shared_(request.shared_bytes > 0 ? &shared : nullptr) {}

  /// Null where they are in the frame.
  const SharedFile* shared() const { return shared_; }
  /// False: there are not so many bytes.
  bool read(std::uint64_t offset, std::span<std::byte> to) const;

 private:
  const Frame& frame_;
  const SharedFile* shared_;
};

class WorkerCall {
 public:
  /// Copies the tensors of a request. Errors: io_error where there is no memory, or where shared
  /// memory is shorter than the request says.
  static Result<WorkerCall> make(const ReceivedRequest& request, const RequestData& data);

  /// Null where there is no tensor of this name. A tensor that shares the memory of another one,
  /// as v does where it is a view of k, is given its name.
  TensorRef view(std::string_view name) const { return view_in(name, name); }
  TensorRef view_in(std::string_view name, std::string_view memory) const;

  /// Calls `function`, a Status(), with inputs that cannot be written. What a kernel may not do is
  /// broken_contract; the processor's arithmetic is put back.
  template <class Function>
  Status run(const WorkerStreams& streams, Function&& function) const {
    const Guard guard(*this, streams);
    const Status status = function();
    const std::string broken = guard.broken();
    return broken.empty() ? status : Status{StatusCode::broken_contract, broken};
  }

  /// The results behind one another, and where each lies.
  std::vector<std::byte> results(std::vector<ReceivedTensor>& tensors) const;
  /// Writes them to where they came from. False: there is no room.
  bool share_results(const SharedFile& shared, std::vector<ReceivedTensor>& tensors) const;

 private:
  class Guard {
   public:
    Guard(const WorkerCall& call, const WorkerStreams& streams);
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard();
    /// What was done that may not be; empty: nothing.
    std::string broken() const;

   private:
    const WorkerCall& call_;
    const WorkerStreams& streams_;
    WatchedTensors watched_;
    ArithmeticState before_;
  };

  /// Memory for a tensor, with its elements in place.
  static Result<GuardedBlock> filled(const ReceivedTensor& form, const RequestData& data);
  /// The elements of a result as they came.
  static void gather(const ReceivedTensor& form, const GuardedBlock& block, std::byte* to);

  std::vector<ReceivedTensor> forms_;
  std::vector<GuardedTensor> tensors_;  ///< in the same order
};

}  // namespace attest::foreign
