// Independent pieces of one call, on the threads of attest/threads.hpp.
#pragma once

#include <functional>

#include "attest/status.hpp"

namespace attest::kernels {

/// Calls body(0) ... body(count - 1), each once, in any order and on any of the threads; returns
/// when all are done.
void for_each_piece(Index count, const std::function<void(Index)>& body);

}  // namespace attest::kernels
