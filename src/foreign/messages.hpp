// Requests and replies of docs/pipe-protocol.md as lines of JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attest/kernel_abi.h"
#include "attest/longer_tensors.hpp"
#include "attest/status.hpp"
#include "foreign/wire_tensor.hpp"

namespace attest::foreign {

inline constexpr int kProtocolVersion = 1;

struct KeySpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What a request says; what it does not have is null or nothing.
struct OutgoingRequest {
  std::string_view message;
  std::int64_t id = 0;
  const attest_problem* problem = nullptr;
  const attest_tiling* tiling = nullptr;
  std::string_view line;  ///< problem and tiling as text alone, for a reader that needs no more
  TensorLengths lengths = {};  ///< beside the line: a text does not say those of longer tensors
  std::optional<KeySpan> keys = std::nullopt;
  std::optional<int> threads = std::nullopt;
  std::string_view shared_memory = {};  ///< of hello: the path of a file that is offered
  std::uint64_t shared_bytes = 0;       ///< of data that lie there; 0: they are in the frame
};

std::string request_line(const OutgoingRequest& request, std::span<const WireTensor> tensors,
                         const Placement& placement);

struct ReceivedRequest {
  std::string message;
  std::int64_t id = 0;
  std::int64_t protocol = 0;  ///< of hello
  std::string problem_text;   ///< empty: there is none
  TensorLengths lengths;      ///< of the problem
  KeySpan keys;
  std::int64_t threads = 0;
  std::string shared_memory;
  std::uint64_t shared_bytes = 0;
  std::vector<ReceivedTensor> tensors;
};

/// Errors: invalid_argument for what is no request, and for tensors that do not lie within the data
/// or are described wrongly. The data have `data_bytes` in the frame, or as many as the request
/// says in shared memory.
Result<ReceivedRequest> parse_request(std::string_view line, std::uint64_t data_bytes);

/// What a program answers.
struct Reply {
  std::int64_t id = 0;
  std::string status = "ok";
  std::string reason;
  std::int64_t row[3] = {-1, -1, -1};
  std::int64_t protocol = 0;
  bool takes_shared_memory = false;     ///< of hello: the file that was offered is open
  std::uint64_t shared_bytes = 0;       ///< of data that lie there; 0: they are in the frame
  std::string description;              ///< JSON of its own; empty: there is none
  std::string accuracy;                 ///< the same
  std::vector<ReceivedTensor> tensors;  ///< names, offsets and bytes
};

std::string reply_line(const Reply& reply);

/// The data that a message may refer to.
struct DataBytes {
  std::uint64_t in_frame = 0;  ///< that came with it
  std::uint64_t shared = 0;    ///< of shared memory, where they are in use
};

/// Errors: as of parse_request; and another id than `id`.
Result<Reply> parse_reply(std::string_view line, std::int64_t id, DataBytes data);

/// The status that a reply stands for. `reason` is somebody else's text: it is made one line.
Status status_of(const Reply& reply);
/// The other way round, without the id.
Reply reply_of(const Status& status);

}  // namespace attest::foreign
