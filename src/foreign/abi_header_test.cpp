// attest/kernel_abi.h alone, as C++; its C half is abi_header_test.c.
#include "attest/kernel_abi.h"

#include <gtest/gtest.h>

extern "C" int attest_abi_header_knows_its_members();

TEST(AbiHeader, AStructThatIsOlderThanTheHeaderLacksTheLaterMembers) {
  EXPECT_EQ(attest_abi_header_knows_its_members(), 1);
}
