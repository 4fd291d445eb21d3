// A hash that is the same on every machine and in every version.
#pragma once

#include <cstdint>
#include <string_view>

namespace attest::properties {

/// FNV-1a of 64 bits.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

}  // namespace attest::properties
