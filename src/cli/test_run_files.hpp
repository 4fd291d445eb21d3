// The files that a run leaves behind, and the lines that it prints, for the tests of the program.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/test_program.hpp"

namespace attest::cli {

using Json = nlohmann::json;

/// Every line as JSON; a line that is not JSON is a failure of the test.
inline std::vector<Json> json_lines(std::string_view text) {
  EXPECT_TRUE(text.empty() || text.ends_with('\n')) << "the last line is cut";
  std::vector<Json> lines;
  for (const std::string& line : lines_of(text)) {
    lines.push_back(Json::parse(line, nullptr, false));
    EXPECT_FALSE(lines.back().is_discarded()) << line;
  }
  return lines;
}

/// Without what may differ between two runs of the same cases.
inline Json without_times(const Json& json) {
  if (!json.is_structured()) return json;
  Json kept = json.is_array() ? Json::array() : Json::object();
  for (const auto& [key, value] : json.items()) {
    if (json.is_array())
      kept.push_back(without_times(value));
    else if (key != "seconds" && key != "jobs" && key != "out_directory" && key != "saved" &&
             key != "started" && key != "command")
      kept[key] = without_times(value);
  }
  return kept;
}

inline std::vector<Json> without_times(std::vector<Json> lines) {
  for (Json& line : lines) line = without_times(line);
  return lines;
}

/// What stands behind `label` and blanks at the beginning of a line; empty if there is none.
inline std::string labelled(std::string_view text, std::string_view label) {
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with(label) || line.size() <= label.size() || line[label.size()] != ' ')
      continue;
    return line.substr(line.find_first_not_of(' ', label.size()));
  }
  return {};
}

/// The words of a line as a shell splits it; single quotes are the only quotes.
inline Words shell_words(std::string_view line) {
  Words words;
  bool inside = false;
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c != '\'') words.back() += c;
  }
  EXPECT_FALSE(quoted) << line;
  return words;
}

/// The caret stands below `word` of `problem`, wherever the message shows the problem.
inline void expect_caret_below(const Finished& finished, const std::string& problem,
                               const std::string& word) {
  SCOPED_TRACE(finished.err);
  const std::vector<std::string> lines = lines_of(finished.err);
  const auto shown = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(problem) != std::string::npos;
  });
  ASSERT_TRUE(shown != lines.end() && shown + 1 != lines.end());
  const std::size_t begin = shown->find(problem) + problem.find(word);
  const std::size_t caret = (shown + 1)->find('^');
  EXPECT_TRUE(begin <= caret && caret < begin + word.size())
      << "the caret is in column " << caret << ", '" << word << "' begins in column " << begin;
}

}  // namespace attest::cli
