#include "foreign/guarded_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cstdint>

#include "foreign/arithmetic_state.hpp"

namespace attest::foreign {
namespace {

TEST(GuardedMemory, BytesBesideTheTensorAreWatched) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{4095},
                                 std::size_t{4096}, std::size_t{10000}}) {
    const GuardedBlock block = GuardedBlock::make(size).value();
    EXPECT_EQ(block.bytes().size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.bytes().data()) % 64, 0U);
    std::fill(block.bytes().begin(), block.bytes().end(), std::byte{0});
    EXPECT_FALSE(block.written_before());
    EXPECT_FALSE(block.written_behind());
    if (size % 64 == 0) continue;
    block.bytes().data()[size] = std::byte{0};
    EXPECT_TRUE(block.written_behind());
    EXPECT_FALSE(block.written_before());
  }
  const GuardedBlock block = GuardedBlock::make(100).value();
  block.bytes().data()[-1] = std::byte{0};
  EXPECT_TRUE(block.written_before());
}

TEST(GuardedMemory, KnowsWhereAnAddressLies) {
  const GuardedBlock block = GuardedBlock::make(100).value();
  const std::byte* const begin = block.bytes().data();
  EXPECT_TRUE(block.owns(begin + 200));
  EXPECT_EQ(block.side_of(begin + 200), Beside::behind);
  EXPECT_EQ(block.side_of(begin + 50), Beside::inside);
  EXPECT_EQ(block.side_of(begin - 1), Beside::before);
  EXPECT_FALSE(block.owns(begin + 100000));
}

TEST(GuardedMemoryDeathTest, PagesAroundItAndInputsCannotBeWritten) {
  const GuardedBlock block = GuardedBlock::make(100).value();
  volatile std::byte* const begin = block.bytes().data();
  EXPECT_DEATH(begin[128] = std::byte{0}, "");
  EXPECT_DEATH(begin[-5000] = std::byte{0}, "");
  block.set_read_only(true);
  EXPECT_DEATH(begin[0] = std::byte{0}, "");
  block.set_read_only(false);
  begin[0] = std::byte{1};
  EXPECT_EQ(block.bytes()[0], std::byte{1});
}

TEST(ArithmeticState, SeesTheRoundingModeAndPutsItBack) {
  const ArithmeticState before = ArithmeticState::now();
  EXPECT_EQ(before.changes_in(ArithmeticState::now()), "");
  std::fesetround(FE_UPWARD);
  EXPECT_EQ(before.changes_in(ArithmeticState::now()), "left the rounding mode changed");
  before.restore();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(before.changes_in(ArithmeticState::now()), "");
}

}  // namespace
}  // namespace attest::foreign
