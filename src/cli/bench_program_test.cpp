// attest bench finds the program that measures, hands over what it was given, or says what lacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/test_program.hpp"

namespace attest::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class BenchProgram : public ProgramTest {
 protected:
  /// A copy of attest with nothing beside it.
  Surroundings lonely_copy() const {
    const fs::path copy = folder() / "bin" / "attest";
    fs::create_directories(copy.parent_path());
    fs::copy_file(ATTEST_PROGRAM, copy);
    return {.largest_file = {}, .standard_output = {}, .program = copy.string()};
  }
  /// A script that prints its arguments, one a line.
  void write_stand_in(const fs::path& name) const {
    write(name, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 3\n");
    fs::permissions(folder() / name, fs::perms::owner_all);
  }
};

TEST_F(BenchProgram, SaysInOneLineThatItIsNotBuilt) {
  const Finished finished = run({"bench", "--list"}, lonely_copy());
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(lines_of(finished.err).size(), 1U);
  EXPECT_THAT(finished.err, HasSubstr("bench/attention_bench is not built"));
}

TEST_F(BenchProgram, HandsOverItsArgumentsAndTheExitCode) {
  const Surroundings copy = lonely_copy();
  write_stand_in("bin/bench/attention_bench");
  const Finished finished = run(
      {"bench", "--filter", "a b|c", "--kernel", "x", "--kernel", "y", "--json", "--quick"}, copy);
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_EQ(lines_of(finished.out),
            (Words{"--filter", "a b|c", "--kernel", "x", "--kernel", "y", "--quick", "--json"}));
}

TEST_F(BenchProgram, TakesTheProgramBesideItFirst) {
  const Surroundings copy = lonely_copy();
  write_stand_in("bin/attention_bench");
  write("bin/bench/attention_bench", "#!/bin/sh\nexit 4\n");
  EXPECT_EQ(run({"bench"}, copy).exit_code, 3);
}

}  // namespace
}  // namespace attest::cli
