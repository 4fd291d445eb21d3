// Saved states of long runs: what was written is read back, and no file crashes the reader.
#include <gtest/gtest.h>

#include <string>

#include "cli/exhaustive_state.hpp"
#include "cli/world_state.hpp"

namespace attest::cli {
namespace {

using properties::Part;

WorldState some_world() {
  WorldState state{.tier = "ci", .keys = 2, .kernels = {}, .seconds = 1.5};
  WorldKernel& kernel = state.kernels.emplace_back();
  kernel.name = "builtin:textbook";
  kernel.version = "1";
  kernel.tilings.resize(3);
  kernel.groups_done = 7;
  kernel.found.outputs = 11;
  properties::WorldElement& worst = kernel.found.worst_out.emplace();
  worst.part = Part::out;
  worst.pair = 5;
  worst.tiling = 2;
  worst.ratio = 0.1;
  worst.witness.got = -0.0;
  return state;
}

/// The text of some_world with a part replaced that it must have.
std::string changed_world(const std::string& part, const std::string& by) {
  std::string text = world_text(some_world());
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

std::string refusal(const std::string& text) {
  const Result<WorldState> state = parse_world(text, "world.json");
  EXPECT_FALSE(state.ok()) << text;
  return state.status().message();
}

TEST(SavedState, OfAWorldComesBack) {
  const Result<WorldState> back = parse_world(world_text(some_world()), "world.json");
  ASSERT_TRUE(back.ok()) << back.status().message();
  ASSERT_EQ(back.value().kernels.size(), 1U);
  const WorldKernel& kernel = back.value().kernels.front();
  EXPECT_EQ(kernel.tilings.size(), 3U);
  EXPECT_EQ(kernel.groups_done, 7);
  ASSERT_TRUE(kernel.found.worst_out);
  EXPECT_EQ(kernel.found.worst_out->ratio, 0.1);
  EXPECT_EQ(world_text(back.value()), world_text(some_world()));
}

TEST(SavedState, OfAWorldIsRefusedWhereItIsNone) {
  for (const std::string text : {"", "[]", R"({"format": 3})", R"({"format": "attest-case"})"})
    EXPECT_EQ(refusal(text), "world.json: is not the state of a world") << text;
  EXPECT_EQ(refusal(changed_world("attest-world", "attest-exhaustive")),
            "world.json: is not the state of a world");
  EXPECT_EQ(refusal(changed_world("\"version\": 1", "\"version\": 2")),
            "world.json: has another format version than 1");
}

TEST(SavedState, OfAWorldWithACountThatIsNoneIsRefused) {
  for (const std::string count : {"-1", "1e300", "1000000000"})
    EXPECT_EQ(refusal(changed_world("\"tilings\": 3", "\"tilings\": " + count)),
              "world.json: tilings is out of range");
  for (const std::string other : {"\"3\"", "null", "[3]"})
    EXPECT_EQ(refusal(changed_world("\"tilings\": 3", "\"tilings\": " + other)),
              "world.json: tilings is of another type");
  EXPECT_EQ(refusal(changed_world("\"pair\": 5", "\"pair\": -5")),
            "world.json: pair is out of range");
  EXPECT_EQ(refusal(changed_world("\"outputs\": 11", "\"outputs\": 18446744073709551615")),
            "world.json: outputs is out of range");
}

ExhaustiveState some_exhaustive() {
  ExhaustiveState state{.function = "exp", .blocks_done = 3, .seconds = 0.25, .targets = {}};
  ExhaustiveTarget& target = state.targets.emplace_back();
  target.name = "AVX2";
  target.found.arguments = 9;
  target.found.first_wrong = 0.5F;
  target.found.ulp = {1.25, -3.0F};
  return state;
}

TEST(SavedState, OfAnExhaustiveCheckComesBack) {
  const std::string text = exhaustive_text(some_exhaustive());
  const Result<ExhaustiveState> back = parse_exhaustive(text, "exp.json");
  ASSERT_TRUE(back.ok()) << back.status().message();
  ASSERT_EQ(back.value().targets.size(), 1U);
  EXPECT_EQ(back.value().targets.front().found.ulp.x, -3.0F);
  EXPECT_EQ(back.value().targets.front().found.first_wrong, 0.5F);
  EXPECT_EQ(exhaustive_text(back.value()), text);
}

TEST(SavedState, OfAnExhaustiveCheckIsRefusedWhereItIsNone) {
  const std::string text = exhaustive_text(some_exhaustive());
  EXPECT_EQ(parse_exhaustive(R"({"format": 1})", "exp.json").status().message(),
            "exp.json: is not the state of an exhaustive check");
  EXPECT_FALSE(parse_exhaustive(text.substr(0, text.size() / 2), "exp.json").ok());
  EXPECT_FALSE(parse_exhaustive(R"({"format": "attest-exhaustive"})", "exp.json").ok());
}

}  // namespace
}  // namespace attest::cli
