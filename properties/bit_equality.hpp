// Does a kernel give the same bits when the same case is run in another way? A measurement: what it
// must do is said by the laws.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attest/kernel.hpp"
#include "attest/verdict.hpp"
#include "properties/random_case.hpp"

namespace attest::properties {

enum class BitKind {
  rerun,     ///< the same call again: out, lse and gradients
  batch,     ///< a batch member alone; only members as long as the batch, whose shape stays
  position,  ///< the batch members in reverse order
  split,     ///< other kv splits, merge orders and tile sizes
  threads,   ///< other numbers of threads
};
inline constexpr std::array kBitKinds{BitKind::rerun, BitKind::batch, BitKind::position,
                                      BitKind::split, BitKind::threads};

constexpr std::string_view to_string(BitKind kind) {
  constexpr std::array<std::string_view, kBitKinds.size()> kNames{"rerun", "batch", "position",
                                                                  "split", "threads"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// Why the kernel cannot be run in such another way; empty where it can.
std::string not_applicable(const Kernel& kernel, BitKind kind);

/// Whether a law demands it of this kernel: rerun and position of every one, batch and split of
/// those that declare bits which do not depend on how a call is cut, threads of those that use
/// attest/threads.hpp, which promises it.
bool must_be_equal(const Kernel& kernel, BitKind kind);

/// `ok`: the same bits; `fail`: others; anything else: this case says nothing about it. For
/// `threads` no other call may run in the process meanwhile.
Verdict same_bits_otherwise(const Kernel& kernel, const Case& on, BitKind kind);

struct BitCount {
  Dtype dtype = Dtype::f32;
  BitKind kind = BitKind::rerun;
  Index equal = 0;  ///< cases
  Index differ = 0;
  std::string reason;  ///< why there are neither; else empty
};

/// Runs `cases` drawn cases of every type that the kernel takes in every way. A function of its
/// arguments alone, for kernels that are.
std::vector<BitCount> count_bit_equality(const Kernel& kernel, const CaseLimits& limits,
                                         Index cases, std::uint64_t seed);

/// Runs the case under random tilings whose cuts are at multiples of `unit`.
Verdict same_under_splits(const Kernel& kernel, Case on, Index unit);

}  // namespace attest::properties
