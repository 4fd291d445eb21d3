// The header of an .npy file, checked; internal to this room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attest/status.hpp"

namespace attest::tensors {

/// numpy itself refuses to read more than 10 000; version 1.0 can write 65 535.
inline constexpr Index kMaxNpyHeaderBytes = 65'535;
/// As in numpy 2.
inline constexpr std::size_t kMaxNpyRank = 64;

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<Index> shape;
  Index descr_offset = 0;  ///< of the values in the file, for messages
  Index shape_offset = 0;
};

/// Parses the dict, which starts at byte `offset` of the file. Keys come in any order, each once.
Result<NpyHeader> parse_npy_header(std::string_view text, Index offset, std::string_view file_name);

}  // namespace attest::tensors
