// Any bytes as an .npy file, and its elements as those of every type. Nothing is judged beyond
// sizes: a sanitizer or an exception is the finding.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tensors/npy.hpp"

using namespace attest;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto array = tensors::parse_npy(std::as_bytes(std::span(data, size)), "input");
  if (!array.ok()) return 0;
  if (array.value().bytes.size() >= size) std::abort();
  for (const Dtype dtype : kDtypes) {
    const auto entry = tensors::to_entry(array.value(), "q", dtype);
    if (entry.ok() &&
        size_of(entry.value().dtype) != static_cast<std::size_t>(array.value().element_bytes))
      std::abort();
  }
  return 0;
}
