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
  std::vector<ReceivedTensor> tensors;
};

/// Errors: invalid_argument for what is no request, and for tensors that do not lie within
/// `data_bytes` or are described wrongly.
Result<ReceivedRequest> parse_request(std::string_view line, std::uint64_t data_bytes);

/// What a program answers.
struct Reply {
  std::int64_t id = 0;
  std::string status = "ok";
  std::string reason;
  std::int64_t row[3] = {-1, -1, -1};
  std::int64_t protocol = 0;
  std::string description;              ///< JSON of its own; empty: there is none
  std::string accuracy;                 ///< the same
  std::vector<ReceivedTensor> tensors;  ///< names, offsets and bytes
};

std::string reply_line(const Reply& reply);

/// Errors: as of parse_request; and another id than `id`.
Result<Reply> parse_reply(std::string_view line, std::int64_t id, std::uint64_t data_bytes);

/// The status that a reply stands for. `reason` is somebody else's text: it is made one line.
Status status_of(const Reply& reply);
/// The other way round, without the id.
Reply reply_of(const Status& status);

}  // namespace attest::foreign
