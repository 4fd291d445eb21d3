// No text, however broken, is read without a verdict.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "attest/random.hpp"
#include "test_problem_text.hpp"

namespace attest {
namespace {

/// Neither a crash nor an error outside of the text; and what is accepted can be written and read.
void expect_verdict_on(const std::string& text) {
  const ParseOutcome outcome = parse(text);
  if (outcome.ok) {
    expect_reads_back(outcome.result);
    return;
  }
  ASSERT_FALSE(outcome.error.message.empty()) << text;
  ASSERT_LE(outcome.error.position, text.size()) << text;
}

TEST(ProblemTextError, EveryPrefixOfALineIsAcceptedOrPointsIntoIt) {
  for (const std::string& line : minimal_lines())
    for (const std::string& whole : {line, canonical_text(parsed(line))})
      for (std::size_t length = 0; length <= whole.size(); ++length) {
        expect_verdict_on(whole.substr(0, length));
        if (HasFatalFailure()) return;
      }
}

std::string mutated(std::string text, SplitMix64& random) {
  static const std::string useful = " \t:;,./+-=x{}*0123456789eEinfanbtlr";
  for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
    const auto at = static_cast<std::size_t>(random.below(text.size() + 1));
    const char byte = random.below(2) == 0 ? static_cast<char>(random.below(256))
                                           : useful[random.below(useful.size())];
    switch (random.below(4)) {
      case 0:
        text.insert(at, 1, byte);
        break;
      case 1:
        text.erase(at, 1 + random.below(4));
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size() + 1), random.below(12)));
        break;
      default:
        if (at < text.size()) text[at] = byte;
    }
  }
  return text;
}

TEST(ProblemTextError, MutatedLinesAreAcceptedOrPointIntoThem) {
  SplitMix64 random(12);
  for (int i = 0; i < 20000; ++i) {
    const std::string& line = minimal_lines()[random.below(minimal_lines().size())];
    expect_verdict_on(mutated(line, random));
    if (HasFatalFailure()) return;
  }
}

TEST(ProblemTextError, RandomBytesAreRefusedWithAPositionInside) {
  SplitMix64 random(13);
  for (int i = 0; i < 5000; ++i) {
    std::string noise(random.below(40), '\0');
    for (char& byte : noise) byte = static_cast<char>(random.below(256));
    expect_verdict_on(noise);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace attest
