// Any bytes as a saved case: the text of case.json, a NUL, which no JSON has, and the bytes of
// case.safetensors. What is read must be a case that a law could take.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "cli/case_store.hpp"

using namespace attest;

namespace {

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::cerr << "a saved case that was read " << what << "\n";
  std::abort();
}

void check_tensor(const properties::CaseTensor& of, const properties::Case& value) {
  const Tensor& tensor = value.*of.tensor;
  const Extents extents = of.extents(value.problem);
  require(tensor.extents() == extents, "has a tensor of another shape than its problem");
  if (extents == Extents{}) return;
  require(tensor.dtype() == of.dtype(value.problem), "has a tensor of another dtype");
  require(tensor.bytes().size() ==
              static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]) *
                  size_of(tensor.dtype()),
          "has a tensor whose bytes do not fill its shape");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  const auto nul = static_cast<std::size_t>(std::ranges::find(bytes, 0) - bytes.begin());
  const std::string json(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(nul));
  const auto tensors = bytes.subspan(std::min(nul + 1, size));
  const auto stored = cli::parse_case({json, std::as_bytes(tensors)}, "input");
  if (!stored.ok()) return 0;
  const properties::Case& value = stored.value().value;
  require(validate(value.problem).ok(), "has a problem that contradicts itself");
  require(properties::check_size(value.problem).ok(), "is too large");
  for (const properties::CaseTensor& of : properties::case_tensors()) check_tensor(of, value);
  return 0;
}
