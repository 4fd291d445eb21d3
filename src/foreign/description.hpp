// What a plug-in says about itself (attest/kernel_abi.h), checked and copied. It is not trusted:
// nothing of it is used before it was looked at. Addresses are all that is believed.
#pragma once

#include <string>

#include "attest/kernel.hpp"
#include "attest/kernel_abi.h"

namespace attest::foreign {

struct Described {
  std::string name;
  std::string version;  ///< may be empty
  std::string summary;  ///< may be empty
  Capabilities capabilities;
  bool causal = false;
  bool strides = false;         ///< columns need not be next to each other
  bool parallel_calls = false;  ///< several threads may call at once
  bool summary_parts = false;   ///< parts are (numerator, max, row_sum), not (out, lse)
  Index tile_q = 0;             ///< preferred sizes; 0: no preference
  Index tile_kv = 0;
  Index splits = 0;
  attest_accuracy accuracy{};  ///< members that the plug-in does not know are absent
};

/// Errors: invalid_argument with one line that names the member and what it holds.
Result<Described> read_description(const attest_description* description);

/// A copy in which functions that the plug-in does not know are null. Errors: as above.
Result<attest_kernel_table> read_table(const attest_kernel_table* table);

/// Numbers and enumerators in their ranges.
Status check_accuracy(const attest_accuracy& accuracy);

/// Text of a plug-in as one line of printable ASCII, other bytes as '?', at most `longest` bytes;
/// `text` need not end with 0.
std::string one_line(const char* text, std::size_t capacity, std::size_t longest);

}  // namespace attest::foreign
