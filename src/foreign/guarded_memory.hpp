// Memory for one tensor between two pages that nobody can touch. What lies beside the tensor within
// its own pages is filled with a pattern, so that a write there is seen, too.
#pragma once

#include <cstddef>
#include <set>
#include <span>

#include "attest/status.hpp"
#include "attest/tensor_view.hpp"

namespace attest::foreign {

/// Where a bad address lies.
enum class Beside { before, inside, behind };

class GuardedBlock {
 public:
  /// The bytes begin at a multiple of 64 and end less than 64 bytes before the page behind them.
  /// Errors: io_error where the system gives no memory.
  static Result<GuardedBlock> make(std::size_t bytes);

  /// Memory for elements that lie far apart: nobody can touch the pages between them. The bytes
  /// are all from the first to the last of them. Errors: as above, and for what no address has.
  static Result<GuardedBlock> make_far(const Extents& extents, const Strides& strides,
                                       std::size_t element_bytes);

  GuardedBlock(GuardedBlock&& other) noexcept;
  GuardedBlock& operator=(GuardedBlock&& other) noexcept;
  GuardedBlock(const GuardedBlock&) = delete;
  GuardedBlock& operator=(const GuardedBlock&) = delete;
  ~GuardedBlock();

  std::span<std::byte> bytes() const { return {data_, size_}; }
  /// From now on every write to it is a fault; or no longer one.
  void set_read_only(bool read_only) const;

  /// Whether the pattern before or behind the bytes has changed.
  bool written_before() const;
  bool written_behind() const;

  /// Whether an address lies in this block or in the pages around it.
  bool owns(const void* address) const;
  /// Precondition: owns(address).
  Beside side_of(const void* address) const;

 private:
  GuardedBlock() = default;

  std::byte* pages_ = nullptr;  ///< with the two that nobody can touch
  std::size_t pages_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::set<std::size_t> far_pages_;  ///< offsets from pages_ of those that may be touched
};

}  // namespace attest::foreign
