// A problem and a tiling as docs/pipe-protocol.md lists their members; internal to this room.
#pragma once

#include "attest/kernel_abi.h"
#include "foreign/message_json.hpp"

namespace attest::foreign {

/// Facts that are tensors of a call are not among them.
Json problem_json(const attest_problem& problem);
Json tiling_json(const attest_tiling& tiling);

}  // namespace attest::foreign
