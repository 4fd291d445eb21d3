// Any bytes as a safetensors file, and as an attention problem if they are one. Nothing is judged:
// a sanitizer or an exception is the finding.
#include <cstdint>
#include <span>

#include "tensors/library.hpp"

using namespace attest;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = tensors::parse_safetensors(std::as_bytes(std::span(data, size)), "input");
  if (file.ok()) (void)tensors::to_attention(file.value(), "input");
  return 0;
}
