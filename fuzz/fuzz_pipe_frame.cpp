// Any bytes as a frame of the pipe protocol, and as the request, the reply or the description that
// its line may be. Bytes that do not begin as a frame are a line and its data: a header that fits
// is put before them. What is taken lies within the data and is read again as it is written; the
// rest is the business of a sanitizer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "foreign/description_json.hpp"
#include "foreign/frames.hpp"
#include "foreign/messages.hpp"

using namespace attest;
using namespace attest::foreign;

namespace {

constexpr FrameLimits kLimits{std::uint64_t{1} << 16, std::uint64_t{1} << 20};
/// What a reply may use.
constexpr std::uint64_t kShared = std::uint64_t{1} << 20;

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::byte> with_header(std::span<const std::byte> bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{'\n'});
  const auto line = static_cast<std::size_t>(end - bytes.begin()) + (end == bytes.end() ? 0 : 1);
  const auto header = frame_header(static_cast<std::uint32_t>(line), bytes.size() - line);
  std::vector<std::byte> all(header.begin(), header.end());
  all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

/// Tensors lie within the shared memory that the message names, or else within its frame.
void check_places(const std::vector<ReceivedTensor>& tensors, std::uint64_t shared_bytes,
                  const Frame& frame) {
  const std::uint64_t data_bytes = shared_bytes > 0 ? shared_bytes : frame.data.size();
  for (const ReceivedTensor& tensor : tensors)
    require(tensor.bytes <= data_bytes && tensor.offset <= data_bytes - tensor.bytes);
}

void check_reply(const Frame& frame) {
  const DataBytes data{frame.data.size(), kShared};
  const Result<Reply> reply = parse_reply(frame.line, 1, data);
  if (!reply.ok()) return;
  require(reply.value().shared_bytes <= kShared);
  check_places(reply.value().tensors, reply.value().shared_bytes, frame);
  const Result<Reply> again = parse_reply(reply_line(reply.value()), 1, data);
  require(again.ok());
  require(status_of(again.value()).message() == status_of(reply.value()).message());
  const Result<Description> description = parse_description(reply.value().description);
  if (!description.ok()) return;
  const attest_description says = description.value().with_accuracy();
  const std::string text = description_text(says, description.value().calls);
  const Result<Description> back = parse_description(text);
  require(back.ok());
  const attest_description said = back.value().with_accuracy();
  require(description_text(said, back.value().calls) == text);
}

void check(const Frame& frame) {
  const Result<ReceivedRequest> request = parse_request(frame.line, frame.data.size());
  if (request.ok()) check_places(request.value().tensors, request.value().shared_bytes, frame);
  check_reply(frame);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  const bool is_frame = size >= 4 && std::memcmp(data, kFrameLetters.data(), 4) == 0;
  const std::vector<std::byte> bytes =
      is_frame ? std::vector<std::byte>(input.begin(), input.end()) : with_header(input);
  FrameReader reader(kLimits);
  std::size_t at = 0;
  // Pieces of a size that depends on the input: a pipe hands over what it likes.
  const std::size_t piece = 1 + size % 37;
  while (!reader.complete() && at < bytes.size()) {
    const auto room = reader.room();
    require(!room.empty());
    const std::size_t count = std::min({room.size(), piece, bytes.size() - at});
    std::memcpy(room.data(), bytes.data() + at, count);
    at += count;
    if (!reader.take(count).ok()) return 0;
  }
  if (reader.complete()) check(std::move(reader).frame());
  return 0;
}
