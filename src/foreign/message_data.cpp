#include "foreign/message_data.hpp"

#include <cstring>

namespace attest::foreign {
namespace {

const ReceivedTensor* find(const Reply& reply, std::string_view name) {
  for (const ReceivedTensor& tensor : reply.tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

}  // namespace

bool put(const SharedFile& shared, std::span<const std::span<const std::byte>> data) {
  std::uint64_t offset = 0;
  for (const std::span<const std::byte> part : data) {
    if (!shared.write(offset, part)) return false;
    offset += part.size();
  }
  return true;
}

std::string take_results(std::span<const WireTensor> results, const Reply& reply,
                         const Frame& answer, const SharedFile& shared) {
  for (const WireTensor& result : results) {
    const std::string name = "tensor " + std::string(result.name);
    const ReceivedTensor* const came = find(reply, result.name);
    if (came == nullptr) return name + " did not come back";
    const std::uint64_t expected = result.span_bytes().value_or(0);
    if (came->bytes != expected)
      return name + " came back with " + std::to_string(came->bytes) + " bytes instead of " +
             std::to_string(expected);
  }
  for (const WireTensor& result : results) {
    const ReceivedTensor& came = *find(reply, result.name);
    const std::span to(static_cast<std::byte*>(result.data), static_cast<std::size_t>(came.bytes));
    if (reply.shared_bytes > 0) {
      if (!shared.read(came.offset, to)) return "its shared memory is shorter than its reply says";
    } else if (!to.empty()) {
      std::memcpy(to.data(), answer.data.data() + came.offset, to.size());
    }
  }
  return {};
}

}  // namespace attest::foreign
