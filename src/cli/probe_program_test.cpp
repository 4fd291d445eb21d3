// attest probe, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/test_program.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

const std::string kTopLeft = "mutant:top_left_instead_of_bottom_right";

class ProbeProgram : public ProgramTest {
 protected:
  static Json finding(const Json& all, const std::string& name) {
    for (const Json& one : all["findings"])
      if (one["name"] == name) return one;
    ADD_FAILURE() << "no finding " << name;
    return {};
  }
};

TEST_F(ProbeProgram, SaysWhatAKernelDoesAndWhatItCannotBeAsked) {
  const Finished probed = run({"probe", kTopLeft});
  EXPECT_EQ(probed.exit_code, 0) << probed.err;
  EXPECT_EQ(probed.err, "");
  EXPECT_THAT(probed.out, AllOf(HasSubstr("causal, bottom-right asked "), HasSubstr(" top-left "),
                                HasSubstr("not declared, so not tried: "), HasSubstr("softcap"),
                                HasSubstr("\nsuggested text: "), HasSubstr("mask=causal:tl")));
  EXPECT_THAT(probed.out, Not(HasSubstr("vals=")));
  const Finished with_lines = run({"probe", kTopLeft, "--experiments"});
  EXPECT_THAT(with_lines.out,
              AllOf(HasSubstr("    '1x2:4x13:8 f32 mask=causal:br lse=ln vals=normal:1'\n"),
                    HasSubstr("attest check " + kTopLeft)));
}

TEST_F(ProbeProgram, ExperimentsReplayWhatTheySay) {
  EXPECT_EQ(run({"probe", kTopLeft, "--json", "probe.json"}).exit_code, 0);
  const Json all = Json::parse(read("probe.json"));
  EXPECT_EQ(all["format"], 1);
  EXPECT_EQ(all["kernel"], kTopLeft);
  const auto replayed = [&](const std::string& name) {
    const Json one = finding(all, name);
    EXPECT_EQ(one["sureness"], "certain") << one;
    const auto line = one["experiments"][0].get<std::string>();
    return run({"check", kTopLeft, line, "--only", "bound.out", "--shrink-time", "0", "--out", "o"})
        .exit_code;
  };
  EXPECT_EQ(replayed("causal, bottom-right asked"), 1);
  EXPECT_EQ(replayed("causal, top-left asked"), 0);
  EXPECT_FALSE(finding(all, "softcap")["declared"].get<bool>());
}

TEST_F(ProbeProgram, RefusesWhatItCannotUse) {
  expect_refused({"probe"}, {"KERNEL"});
  expect_refused({"probe", "builtin:nothing"}, {"builtin:nothing"});
  expect_refused({"probe", kTopLeft, "--dtype", "f33"}, {"f33"});
  expect_refused({"probe", kTopLeft, "--json", "no/such/folder/x.json"}, {"no/such/folder"});
}

}  // namespace
}  // namespace attest::cli
