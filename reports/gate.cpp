#include "reports/gate.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "reports/escape.hpp"

namespace attest::reports {
namespace {

constexpr std::array kQuantities{std::pair{std::string_view("ratio"), Quantity::ratio},
                                 std::pair{std::string_view("rms"), Quantity::rms},
                                 std::pair{std::string_view("new_fail"), Quantity::new_fail},
                                 std::pair{std::string_view("fail"), Quantity::fail},
                                 std::pair{std::string_view("gone"), Quantity::gone},
                                 std::pair{std::string_view("power"), Quantity::power},
                                 std::pair{std::string_view("worst"), Quantity::worst}};

/// Longer ones first.
constexpr std::array kComparisons{std::pair{std::string_view("<="), Comparison::at_most},
                                  std::pair{std::string_view(">="), Comparison::at_least},
                                  std::pair{std::string_view("=="), Comparison::equal},
                                  std::pair{std::string_view("<"), Comparison::less},
                                  std::pair{std::string_view(">"), Comparison::more}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Status parse(Gate& gate) {
    skip_blanks();
    if (at_ == text_.size()) return {};
    while (true) {
      Condition condition;
      const std::size_t begin = at_;
      if (Status status = parse_condition(condition); !status.ok()) return status;
      condition.text = text_.substr(begin, at_ - begin);
      gate.conditions.push_back(std::move(condition));
      skip_blanks();
      if (at_ == text_.size()) return {};
      if (!take("&")) return refuse("'&' or the end of the rule must follow");
      take("&");
      skip_blanks();
    }
  }

 private:
  Status parse_condition(Condition& condition) {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    bool known = false;
    for (const auto& [word, quantity] : kQuantities)
      if (word == name) known = true, condition.quantity = quantity;
    if (!known) {
      at_ = begin;
      return refuse("one of ratio, rms, new_fail, fail, gone, power, worst must stand here");
    }
    skip_blanks();
    if (!take_comparison(condition.comparison))
      return refuse("one of <= >= == < > must stand here");
    skip_blanks();
    const char* const end = text_.data() + text_.size();
    const auto [stop, problem] = std::from_chars(text_.data() + at_, end, condition.number);
    if (problem != std::errc{} || !(condition.number >= 0))
      return refuse("a number of at least 0 must stand here");
    at_ = static_cast<std::size_t>(stop - text_.data());
    return {};
  }

  bool take_comparison(Comparison& comparison) {
    for (const auto& [sign, meaning] : kComparisons) {
      if (!take(sign)) continue;
      comparison = meaning;
      return true;
    }
    return false;
  }

  bool take(std::string_view sign) {
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  Status refuse(std::string_view why) const {
    const std::string before = plain_text(text_.substr(0, at_));
    return invalid_argument(fmt::format("cannot use this rule:\n{}\n{}^ {}", plain_text(text_),
                                        std::string(character_count(before), ' '), why));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string_view to_string(Quantity quantity) {
  for (const auto& [word, known] : kQuantities)
    if (known == quantity) return word;
  return "?";
}

Status parse_gate(std::string_view text, Gate& gate) {
  return Parser(text).parse(gate);
}

bool holds(const Condition& condition, double value) {
  switch (condition.comparison) {
    case Comparison::less:
      return value < condition.number;
    case Comparison::at_most:
      return value <= condition.number;
    case Comparison::equal:
      return value == condition.number;
    case Comparison::at_least:
      return value >= condition.number;
    case Comparison::more:
      return value > condition.number;
  }
  return false;
}

}  // namespace attest::reports
