// Eight bytes as a double and one as an element type: the written number must read back as the
// same number, through the reader of problem texts.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "attest/element.hpp"
#include "attest/problem_text.hpp"

using namespace attest;

namespace {

double read_back(const std::string& number, Dtype dtype) {
  const std::string line =
      "1x1:1x0:1 " + std::string(to_string(dtype)) + " vals=lit:" + number + ";;";
  ProblemText text;
  TextError error;
  if (!parse_problem_text(line, text, error)) {
    std::cerr << with_caret(line, error) << "\n";
    std::abort();
  }
  return text.values.q.front();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t bits = 0;
  for (std::size_t i = 1; i < size && i <= sizeof bits; ++i) bits = bits << 8 | data[i];
  const Dtype dtype = kDtypes[size == 0 ? 0 : data[0] % kDtypes.size()];
  const double value = rounded_to(dtype, std::bit_cast<double>(bits));
  const std::string text = number_text(value, dtype);
  const double back = read_back(text, dtype);
  const bool same = std::isnan(value)
                        ? std::isnan(back)
                        : std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value);
  if (same) return 0;
  std::cerr << text << " reads back as " << back << " in " << to_string(dtype) << "\n";
  std::abort();
}
