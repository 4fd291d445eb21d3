// The table of public APIs: there and back, and the page that shows it.
#include "attest/public_api.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "test_problem_text.hpp"

namespace attest {
namespace {

/// Numbers for a row; none of them twice, so that no two holes are mistaken for each other.
std::vector<Index> numbers_for(const ApiRow& row, Index first) {
  std::vector<Index> numbers;
  for (std::size_t i = 0; i < number_count(row); ++i)
    numbers.push_back(first + 3 * static_cast<Index>(i));
  return numbers;
}

TEST(PublicApi, WordsOfEveryRowSurviveTheWayToAProblemAndBack) {
  for (const ApiRow& row : api_rows())
    for (const Index first : {Index{1}, Index{2}, Index{17}, Index{1024}}) {
      const std::vector<Index> numbers = numbers_for(row, first);
      const std::string line = "2x4/2:6x8:16 bf16 " + to_keys(row, numbers);
      const ParseOutcome outcome = parse(line);
      ASSERT_TRUE(outcome.ok) << row.api << "\n" << with_caret(line, outcome.error);
      EXPECT_EQ(words_of(row.api, row.topic, outcome.result.problem), to_words(row, numbers))
          << line;
    }
}

TEST(PublicApi, KeysOfEveryRowAreWrittenAsInACanonicalText) {
  for (const ApiRow& row : api_rows()) {
    const std::string keys = to_keys(row, numbers_for(row, 5));
    const std::string canonical = canonical_text(parsed("2x4/2:6x8:16 bf16 " + keys)) + " ";
    for (std::size_t at = 0; at < keys.size(); at = keys.find(' ', at) + 1) {
      const std::string key = keys.substr(at, keys.find(' ', at) - at);
      EXPECT_NE(canonical.find(" " + key + " "), std::string::npos) << row.api << " " << key;
      if (keys.find(' ', at) == std::string::npos) break;
    }
  }
}

TEST(PublicApi, RowsOfATopicStandTogetherAndEveryTopicHasSome) {
  std::vector<ApiTopic> topics;
  for (const ApiRow& row : api_rows())
    if (topics.empty() || topics.back() != row.topic) topics.push_back(row.topic);
  EXPECT_EQ(topics, std::vector<ApiTopic>(kApiTopics.begin(), kApiTopics.end()));
}

TEST(PublicApi, CountsThatIncludeTheQueryAreOneLess) {
  const auto window = [](std::string_view api, const std::string& keys) {
    return words_of(api, ApiTopic::window, parsed("1x1:4x8:2 f32 " + keys).problem);
  };
  EXPECT_EQ(window("Hugging Face", "mask=causal:br win=4095:0"), "sliding_window=4096");
  EXPECT_EQ(window("flash-attention 4", "mask=causal:br win=4095:0"),
            "causal=True, window_size=(4095, 0)");
  EXPECT_EQ(window("cuDNN", "align=br win=4095:0"),
            "diagonal_alignment=BOTTOM_RIGHT, diagonal_band_left_bound=4096, "
            "diagonal_band_right_bound=0");
}

TEST(PublicApi, SaysNothingWhereAnApiHasNoWords) {
  const Problem plain = parsed("1x1:4x8:2 f32").problem;
  EXPECT_EQ(words_of("Hugging Face", ApiTopic::window, plain), std::nullopt);
  EXPECT_EQ(words_of("MLX", ApiTopic::causal, parsed("1x1:4x8:2 f32 mask=causal:tl").problem),
            std::nullopt);
  EXPECT_EQ(words_of("no such API", ApiTopic::causal, plain), std::nullopt);
  const Problem longest = parsed("1x1:4x8:2 f32 mask=causal:br win=9223372036854775807:0").problem;
  EXPECT_EQ(words_of("Hugging Face", ApiTopic::window, longest), std::nullopt);
}

TEST(PublicApi, OtherPartsOfAMaskDoNotHideItsDiagonal) {
  const Problem problem = parsed("1x1:2x2:2 f32 mask=causal:br+doc:0,1 win=3:0").problem;
  EXPECT_EQ(words_of("MLX", ApiTopic::causal, problem), "mask=\"causal\"");
  EXPECT_EQ(words_of("vLLM", ApiTopic::window, problem), "sliding_window=4");
}

std::string table_row(const ApiRow& row) {
  return "| " + std::string(row.api) + " | `" + std::string(row.words) + "` | `" +
         std::string(row.keys) + "` | " + std::string(row.note) + " |";
}

/// Headings and table rows of the page, as the table of this program would write them.
std::vector<std::string> expected_lines() {
  std::vector<std::string> lines;
  for (const ApiTopic topic : kApiTopics) {
    lines.push_back("## " + std::string(to_string(topic)));
    for (const ApiRow& row : api_rows())
      if (row.topic == topic) lines.push_back(table_row(row));
  }
  return lines;
}

TEST(PublicApi, ThePageShowsTheTable) {
  std::ifstream page(ATTEST_DOCS_DIR "/public_apis.md");
  ASSERT_TRUE(page.is_open());
  std::vector<std::string> lines;
  for (std::string line; std::getline(page, line);) {
    const bool is_row = line.substr(0, 2) == "| " && line.find("| `") != std::string::npos;
    if (is_row || line.substr(0, 3) == "## ") lines.push_back(line);
  }
  std::string whole;
  for (const std::string& line : expected_lines()) whole += line + "\n";
  EXPECT_EQ(lines, expected_lines()) << "the page should have these lines:\n" << whole;
}

}  // namespace
}  // namespace attest
