// The data of a request and of its reply, in frames or in shared memory, on attest's side.
#pragma once

#include <span>
#include <string>

#include "foreign/frames.hpp"
#include "foreign/messages.hpp"
#include "foreign/shared_file.hpp"

namespace attest::foreign {

/// Writes data to the beginning of the file. False: there is no room for them.
bool put(const SharedFile& shared, std::span<const std::span<const std::byte>> data);

/// Copies the results of a reply to where they belong. Why that cannot be; empty: it is done.
std::string take_results(std::span<const WireTensor> results, const Reply& reply,
                         const Frame& answer, const SharedFile& shared);

}  // namespace attest::foreign
