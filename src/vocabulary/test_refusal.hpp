// The message of a refusal.
#pragma once

#include <string>

#include "attest/status.hpp"

namespace attest {

inline std::string refusal(const Status& status) {
  return status.code() == StatusCode::invalid_argument ? status.message() : "not refused";
}

}  // namespace attest
