// Any bytes as what a replay line says about exact results. A number that was read must agree with
// itself.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "properties/expected_values.hpp"

using namespace attest;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto expectation = properties::parse_expectation(text);
  if (!expectation.ok()) return 0;
  for (const properties::ExpectedTensor& tensor : expectation.value().want)
    for (const properties::ExpectedNumber& number : tensor.numbers)
      if (!number.agrees({number.value, 0, 0})) {
        std::cerr << number.value << " of " << tensor.name << " does not agree with itself\n";
        std::abort();
      }
  return 0;
}
