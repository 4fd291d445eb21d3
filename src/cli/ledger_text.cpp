// Reading of a ledger.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "attest/problem_text.hpp"
#include "cli/inputs.hpp"
#include "cli/ledger.hpp"
#include "cli/ledger_words.hpp"

namespace attest::cli {
namespace {

struct Word {
  std::string text;
  std::size_t position = 0;
};

/// Up to a word that begins with '#': a link may have one inside.
std::vector<Word> words_of_line(const std::string& line) {
  std::vector<Word> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string::npos;) {
    if (line[at] == '#') break;
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back({line.substr(at, end - at), at});
    at = end;
  }
  return words;
}

/// YYYY-MM-DD of a day that there is.
std::optional<Day> day_of(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  const auto number = [&](std::size_t at, std::size_t size, auto& into) {
    const char* const begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + size, into);
    return error == std::errc{} && end == begin + size;
  };
  const bool is_date = text.size() == 10 && text[4] == '-' && text[7] == '-' &&
                       number(0, 4, year) && number(5, 2, month) && number(8, 2, day);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  return is_date && date.ok() ? std::optional<Day>(date) : std::nullopt;
}

std::string known_keys() {
  std::string keys;
  for (const auto& [key, value] : problem_words({})) keys += " " + key;
  return keys;
}

bool is_law_glob(const std::string& glob) {
  return std::any_of(properties::laws().begin(), properties::laws().end(),
                     [&](const properties::Law& law) { return matches_any({glob}, law.name); });
}

class LineParser {
 public:
  LineParser(const std::string& line, Day day) : line_(line), day_(day) {}

  /// Null, and the error, for a line that is no entry.
  std::unique_ptr<KnownFailure> parse(TextError& error) {
    for (const Word& word : words_of_line(line_)) take(word);
    const std::size_t end = line_.find_last_not_of(" \t\r") + 1;
    for (const char* const key : {"law", "issue", "until"})
      if (!seen_.contains(key)) fail(std::string(key) + "= is missing", end);
    if (!seen_.contains("mode")) fail("the last word must be run or never-launch", end);
    if (entry_->never_launch && entry_->law != "*")
      fail("never-launch is about every law: law=*", line_.find("never-launch"));
    error = error_.value_or(TextError{});
    return error_ ? nullptr : std::move(entry_);
  }

 private:
  void fail(const std::string& message, std::size_t position) {
    if (!error_) error_ = TextError{message, position};
  }

  void take(const Word& word) {
    if (seen_.contains("mode"))
      return fail("nothing may follow run or never-launch", word.position);
    if (word.text == "run" || word.text == "never-launch") {
      entry_->never_launch = word.text == "never-launch";
      seen_.insert("mode");
      return;
    }
    const std::size_t at = word.text.find_first_of("=<>!");
    const std::size_t value_at = word.text.find_first_not_of("=<>!", at);
    if (at == std::string::npos || at == 0 || value_at == std::string::npos)
      return fail("this is neither KEY=VALUE, run nor never-launch", word.position);
    take_pair(
        {word.text.substr(0, at), word.text.substr(at, value_at - at), word.text.substr(value_at)},
        word);
  }

  void take_pair(KnownFailure::Condition&& pair, const Word& word) {
    const std::size_t value_at = word.position + word.text.size() - pair.value.size();
    static const std::set<std::string> kOwn{"law", "kernel", "issue", "until"};
    if (!kOwn.contains(pair.key)) return take_condition(std::move(pair), word);
    if (pair.op != "=") return fail(pair.key + " takes =", word.position + pair.key.size());
    if (!seen_.insert(pair.key).second) return fail(pair.key + "= is there twice", word.position);
    if (pair.key == "issue") {
      entry_->issue = pair.value;
    } else if (pair.key == "until") {
      const auto day = day_of(pair.value);
      if (!day) return fail("this is no date YYYY-MM-DD", value_at);
      entry_->until = pair.value;
      entry_->expired = *day < day_;
    } else {
      if (pair.key == "law" && !is_law_glob(pair.value))
        return fail("no law matches '" + pair.value + "' (attest list laws shows them)", value_at);
      (pair.key == "law" ? entry_->law : entry_->kernel) = pair.value;
      add_about(word.text);
    }
  }

  void take_condition(KnownFailure::Condition&& condition, const Word& word) {
    static const std::set<std::string> kOperators{"=", "!=", "<", "<=", ">", ">="};
    if (!kOperators.contains(condition.op))
      return fail("unknown comparison " + condition.op + "; known: = != < <= > >=",
                  word.position + condition.key.size());
    if (!problem_words({}).contains(condition.key))
      return fail(
          "unknown key '" + condition.key + "'; known: law kernel issue until" + known_keys(),
          word.position);
    const bool ordered = condition.op != "=" && condition.op != "!=";
    if (ordered && !number_of(condition.value))
      return fail(condition.op + " needs a number",
                  word.position + word.text.size() - condition.value.size());
    add_about(word.text);
    entry_->conditions.push_back(std::move(condition));
  }

  void add_about(const std::string& word) {
    entry_->about += (entry_->about.empty() ? "" : " ") + word;
  }

  const std::string& line_;
  Day day_;
  std::unique_ptr<KnownFailure> entry_ = std::make_unique<KnownFailure>();
  std::set<std::string> seen_;
  std::optional<TextError> error_;
};

}  // namespace

Day today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

Result<Ledger> Ledger::parse(std::string_view text, const std::string& name, Day day) {
  Ledger ledger;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words_of_line(line).empty()) continue;
    const std::string place = name + ":" + std::to_string(number);
    TextError error;
    std::unique_ptr<KnownFailure> entry = LineParser(line, day).parse(error);
    if (entry == nullptr)
      return invalid_argument(place + ": this is no known failure:\n" + with_caret(line, error));
    entry->place = place;
    ledger.entries_.push_back(std::move(entry));
  }
  return ledger;
}

Result<Ledger> Ledger::read(const std::filesystem::path& path, Day day) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(path, ignored))
    return Status{StatusCode::io_error, "cannot read " + path.string()};
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return parse(text, path.string(), day);
}

Result<Ledger> read_ledger(const std::string& path) {
  return path.empty() ? Ledger() : Ledger::read(path, today());
}

}  // namespace attest::cli
