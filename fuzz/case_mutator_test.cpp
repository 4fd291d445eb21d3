// Every byte string is an input, and mutation and crossover are functions of bytes and seed that
// give inputs which say what they are.
#include "fuzz/case_mutator.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attest/problem_text.hpp"
#include "properties/hard_cases.hpp"
#include "properties/random_case.hpp"

namespace attest::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

const LawTarget kTarget{[](const properties::Law&) { return true; },
                        [](const Kernel&) { return true; }, properties::draw_case};

const CaseForm& form() {
  static const CaseForm only(kTarget, nullptr);
  return only;
}

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

std::string text_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

/// Lines, choices, half a line, and nothing.
std::vector<Bytes> inputs() {
  std::vector<Bytes> all{{},
                         {0},
                         {7, 200, 3, 99, 255, 0, 1, 50, 60, 70, 80, 90},
                         bytes_of("1x1:2x3:1 f32 lse=ln law=bound.out"),
                         bytes_of("builtin:textbook 1x2:2x3:2 f32 mask=causal:br law=bound.lse"),
                         bytes_of("1x1:2x3:1 f32 mask=caus")};
  for (const std::string_view line : properties::hard_case_lines())
    if (line.size() < 200) all.push_back(bytes_of(line));
  return all;
}

/// Stands for libFuzzer's, and shows that it was asked.
std::size_t marked(std::uint8_t* data, std::size_t size, std::size_t max_size) {
  const std::size_t longer = std::min(size + 1, max_size);
  if (longer > 0) data[longer - 1] = '!';
  return longer;
}

Bytes mutated(const Bytes& from, std::size_t max_size, std::uint64_t seed) {
  // What lies beyond the bytes is written, too, and must decide nothing.
  Bytes room(max_size, static_cast<std::uint8_t>(seed));
  std::copy(from.begin(), from.end(), room.begin());
  room.resize(mutate(form(), room.data(), from.size(), max_size, seed, marked));
  return room;
}

TEST(CaseForm, ALineSaysKernelLawAndCase) {
  const CaseInput input =
      form().decode(bytes_of("builtin:textbook 1x2:2x3:2 f32 lse=ln law=bound.lse  # a note"));
  EXPECT_EQ(input.kernel->description().name, "builtin:textbook");
  EXPECT_EQ(input.law->name, "bound.lse");
  EXPECT_EQ(input.value.problem.heads_q, 2);
  EXPECT_EQ(form().encode(input), "builtin:textbook 1x2:2x3:2 f32 lse=ln law=bound.lse");
}

TEST(CaseForm, WhatIsNoSmallLineIsChoices) {
  for (const char* const text : {"", "x", "1x1:2x3:1 f64 nonsense", "1x1:100000x100000:64 f32",
                                 "1x1:2x3:1 f32 split=1000", "1x1:1x8:2 f32 kv=paged:100000"}) {
    const CaseInput input = form().decode(bytes_of(text));
    ASSERT_NE(input.kernel, nullptr) << text;
    ASSERT_NE(input.law, nullptr) << text;
    EXPECT_LE(input.value.problem.seq_kv, 64) << text;
    EXPECT_LE(input.value.tiling.splits.count, 40) << text;
  }
}

TEST(CaseForm, EveryInputDecodesAgainFromItsLine) {
  for (const Bytes& bytes : inputs()) {
    const CaseInput input = form().decode(bytes);
    const std::string line = form().encode(input);
    const CaseInput again = form().decode(bytes_of(line));
    EXPECT_EQ(form().encode(again), line) << text_of(bytes);
    EXPECT_EQ(again.value.problem, input.value.problem) << text_of(bytes);
  }
}

TEST(CaseMutator, IsAFunctionOfBytesAndSeedAndStaysWithinItsRoom) {
  int changed = 0;
  for (const Bytes& bytes : inputs())
    for (std::uint64_t seed = 0; seed < 12; ++seed)
      for (const std::size_t room : {bytes.size() + 1, std::size_t{60}, std::size_t{2000}}) {
        if (room < bytes.size()) continue;
        const Bytes once = mutated(bytes, room, seed);
        EXPECT_EQ(once, mutated(bytes, room, seed)) << text_of(bytes);
        EXPECT_LE(once.size(), room);
        const std::string line = form().encode(form().decode(once));
        ProblemText text;
        TextError error;
        EXPECT_TRUE(parse_problem_text(line.substr(line.find(' ') + 1), text, error)) << line;
        if (once != bytes) ++changed;
      }
  EXPECT_GT(changed, 500);
}

TEST(CaseMutator, GivesLinesMostlyAndAsksForRawBytesNowAndThen) {
  const Bytes bytes = bytes_of("builtin:scalar_tree 1x1:2x3:1 f32 lse=ln law=bound.out");
  int lines = 0;
  int raw = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string made = text_of(mutated(bytes, 4000, seed));
    if (made == text_of(bytes) + "!")
      ++raw;
    else if (form().encode(form().decode(bytes_of(made))) == made)
      ++lines;
  }
  EXPECT_GT(lines, 150);
  EXPECT_GT(raw, 5);
  EXPECT_EQ(lines + raw, 200);
}

TEST(CaseMutator, ACrossingIsAFunctionOfItsParentsAndSeed) {
  const auto all = inputs();
  int made = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    Bytes once(3000, 1);
    Bytes twice(3000, 2);
    once.resize(cross_over(form(), all[i], all[i + 1], once, i));
    twice.resize(cross_over(form(), all[i], all[i + 1], twice, i));
    EXPECT_EQ(once, twice);
    if (once.empty()) continue;
    ++made;
    EXPECT_EQ(form().encode(form().decode(once)), text_of(once));
  }
  EXPECT_GT(made, 20);
}

}  // namespace
}  // namespace attest::fuzz
