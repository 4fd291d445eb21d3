// What a kernel says of itself, as text: the description of docs/pipe-protocol.md.
#pragma once

#include <string>
#include <string_view>

#include "attest/kernel_abi.h"
#include "attest/status.hpp"

namespace attest::foreign {

/// Functions that a table may lack.
struct OptionalCalls {
  bool partial = false;
  bool merge = false;
  bool accuracy = false;
};

/// A description that owns its accuracy.
struct Description {
  attest_description says{};
  attest_accuracy accuracy{};
  bool has_accuracy = false;
  OptionalCalls calls;

  /// As the C interface has it, valid as long as this object stays where it is.
  attest_description with_accuracy() const {
    attest_description whole = says;
    whole.accuracy = has_accuracy ? &accuracy : nullptr;
    return whole;
  }
};

/// Text of the JSON object. Members beyond the sizes of the structs count as absent.
std::string description_text(const attest_description& description, const OptionalCalls& calls);
std::string accuracy_text(const attest_accuracy& accuracy);

/// Errors: invalid_argument for what is no such object, unknown words, and a name or a list of
/// dtypes that is missing.
Result<Description> parse_description(std::string_view text);
Result<attest_accuracy> parse_accuracy(std::string_view text);

}  // namespace attest::foreign
