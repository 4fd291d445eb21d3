// Shared objects as kernels of the program: the worked plug-ins of examples/ and what attest new
// writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kExamples = ATTEST_EXAMPLES;

std::string example(const std::string& name) {
  return kExamples + "/lib" + name + ".so";
}

class PluginProgram : public ProgramTest {
 protected:
  Finished smoke(const std::string& kernel, const Words& more = {}) const {
    Words arguments{"check", kernel, "--tier", "smoke", "--out", "out", "--shrink-time", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

TEST_F(PluginProgram, PassesTheWorkedPlugins) {
  for (const char* name : {"plugin_c", "plugin_cpp", "plugin_cpp_silent"}) {
    const Finished checked = smoke(example(name));
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
    EXPECT_THAT(last_line(checked.out), StartsWith("PASSED  "));
    EXPECT_THAT(checked.out, HasSubstr(example(name)));
  }
}

TEST_F(PluginProgram, ASymbolMayBeNamed) {
  EXPECT_EQ(smoke(example("plugin_c") + ":attest_kernel", {"--only", "bound.*"}).exit_code, 0);
  expect_refused({"check", example("plugin_c") + ":nothing"}, {"no symbol 'nothing'"});
}

TEST_F(PluginProgram, RefusesWhatIsNoPlugin) {
  for (const char* const how : {"worker", "none"}) {
    expect_refused({"check", "./none.so", "--isolate", how},
                   {"cannot use ./none.so as a kernel", "no such file"});
    const std::string said = run({"check", "./none.so", "--isolate", how}).err;
    EXPECT_EQ(said.find("cannot use"), said.rfind("cannot use")) << "once: " << said;
  }
  write("text.so", "hello\n");
  expect_refused({"check", "text.so"}, {"text.so"});
  expect_refused({"bound", "1x1:1x2:4 f32", "--kernel", "./none.so"}, {"no such file"});
}

/// A planted fault and the law that names it.
class PlantedPlugin : public PluginProgram,
                      public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(PlantedPlugin, IsFoundSavedAndReplayed) {
  const auto [name, law] = GetParam();
  const Finished checked = smoke(example(name));
  EXPECT_EQ(checked.exit_code, 1) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr(law));
  const Finished replayed = run({"replay", "out"});
  EXPECT_EQ(replayed.exit_code, 1) << replayed.out << replayed.err;
}

INSTANTIATE_TEST_SUITE_P(Every, PlantedPlugin,
                         testing::Values(std::pair{"plugin_c_planted_1", "mask."},
                                         std::pair{"plugin_c_planted_2", "mask."},
                                         std::pair{"plugin_c_planted_3", "lse"},
                                         std::pair{"plugin_c_planted_4", "bound.out"},
                                         std::pair{"plugin_cpp_planted_1", "bound.out"},
                                         std::pair{"plugin_cpp_planted_2", "bound.out"},
                                         std::pair{"plugin_cpp_planted_3", "bound.out"},
                                         std::pair{"plugin_cpp_planted_4", "merge."}));

class NewKernel : public PluginProgram, public testing::WithParamInterface<const char*> {
 protected:
  static int shell(const std::string& command) { return std::system(command.c_str()); }
};

TEST_P(NewKernel, BuildsAndPasses) {
  const Finished made = run({"new", "mine", "--abi", GetParam()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("mine/README.md"), HasSubstr("cmake -S . -B build")));
  const std::string inside = "cd " + (folder() / "mine").string() + " && ";
  ASSERT_EQ(shell(inside + "cmake -S . -B build >log 2>&1 && cmake --build build >>log 2>&1"), 0)
      << read("mine/log");
  const Finished checked = smoke("mine/build/libmine.so");
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_THAT(last_line(checked.out), StartsWith("PASSED  "));
}

INSTANTIATE_TEST_SUITE_P(Every, NewKernel, testing::Values("c", "cpp"));

TEST_F(PluginProgram, NewNeverOverwrites) {
  write("mine/README.md", "my own\n");
  expect_refused({"new", "mine", "--abi", "c"}, {"mine/README.md exists; nothing was written"});
  EXPECT_EQ(read("mine/README.md"), "my own\n");
  EXPECT_FALSE(exists("mine/mine.c"));
  EXPECT_EQ(run({"new", "mine", "--abi", "c", "--out", "other/place"}).exit_code, 0);
  EXPECT_TRUE(exists("other/place/mine.c"));
}

TEST_F(PluginProgram, NewWritesAPipeProgram) {
  const Finished made = run({"new", "mine", "--abi", "pipe"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(read("mine/mine.py"), HasSubstr("\"name\": \"mine\""));
  EXPECT_THAT(read("mine/README.md"), HasSubstr("'pipe:python3 mine.py'"));
  EXPECT_TRUE(exists("mine/attest_pipe.py"));
}

TEST_F(PluginProgram, NewRefusesWrongWords) {
  expect_refused({"new", "9lives", "--abi", "c"}, {"'9lives' is no name"});
  expect_refused({"new", "../mine", "--abi", "c"}, {"is no name"});
  expect_refused({"new", "mine", "--abi", "fortran"}, {"unknown --abi 'fortran'"});
}

}  // namespace
}  // namespace attest::cli
