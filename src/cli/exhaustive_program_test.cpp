// attest bench --exhaustive: interruptible, and it goes on where it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "cli/exhaustive_run.hpp"
#include "cli/test_program.hpp"
#include "kernels/simd_dispatch.hpp"

namespace attest::cli {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

class Exhaustive : public ProgramTest {
 protected:
  const std::string target = kernels::target_names().front();

  Index blocks_done() const {
    if (!exists("state.json")) return 0;
    return Json::parse(read("state.json")).at("blocks_done").get<Index>();
  }

  /// A run that gets the signal once it has saved progress of its own.
  Finished ended_by(int signal) const {
    const Index before = blocks_done();
    Running running({"bench", "--exhaustive", "log", "--target", target, "--threads", "1",
                     "--state", "state.json"},
                    folder(), {});
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (blocks_done() <= before && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    running.send(signal);
    return running.wait();
  }
};

TEST_F(Exhaustive, AnInterruptedRunSaysSoAndAKilledOneGoesOn) {
  const Finished first = ended_by(SIGINT);
  EXPECT_EQ(first.exit_code, 3) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr("the same command goes on"));
  EXPECT_THAT(first.out, HasSubstr("UNDECIDED"));
  const Index after_first = blocks_done();
  EXPECT_GT(after_first, 0);
  EXPECT_LT(after_first, kBlocks);
  EXPECT_EQ(ended_by(SIGKILL).signal, SIGKILL);
  EXPECT_GT(blocks_done(), after_first);
  const Json state = Json::parse(read("state.json"));
  EXPECT_EQ(state.at("targets").at(0).at("arguments"), blocks_done() * kBlockArguments);
  EXPECT_EQ(state.at("targets").at(0).at("wrong"), 0);
  expect_refused({"bench", "--exhaustive", "tanh", "--target", target, "--state", "state.json"},
                 {"state.json", "another function"});
}

TEST_F(Exhaustive, WrongUseIsRefused) {
  expect_refused({"bench", "--exhaustive", "sin"}, {"unknown function 'sin'", "tanh"});
  expect_refused({"bench", "--exhaustive", "exp", "--target", "AVX9"},
                 {"no target 'AVX9'", target});
  write("state.json", "{}");
  expect_refused({"bench", "--exhaustive", "exp", "--state", "state.json"},
                 {"state.json", "is not the state"});
}

}  // namespace
}  // namespace attest::cli
