// A read position in one line of text; every failure remembers where it happened.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "attest/element.hpp"
#include "attest/problem_text.hpp"

namespace attest {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  bool failed() const { return failed_; }
  const TextError& error() const { return error_; }
  std::size_t position() const { return position_; }
  bool at_end() const { return position_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }

  /// Remembers the first failure only. Returns false, for use in a return statement.
  bool fail(std::string message) { return fail_at(position_, std::move(message)); }
  bool fail_at(std::size_t position, std::string message) {
    if (!failed_) error_ = {std::move(message), position};
    failed_ = true;
    return false;
  }

  void move_to(std::size_t position) { position_ = position; }
  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t') ++position_;
  }
  bool accept(std::string_view token) {
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }
  bool expect(std::string_view token, const char* what) {
    return accept(token) || fail("expected '" + std::string(token) + "' " + what);
  }
  /// Characters up to the next space or one of `stops`.
  std::string_view word(std::string_view stops = "") {
    const std::size_t begin = position_;
    while (!at_end() && peek() != ' ' && peek() != '\t' &&
           stops.find(peek()) == std::string_view::npos)
      ++position_;
    return text_.substr(begin, position_ - begin);
  }

  template <class Number>
  bool number(Number& value, const char* what) {
    const char* const begin = text_.data() + position_;
    const char* const end = text_.data() + text_.size();
    const auto [stop, problem] = std::from_chars(begin, end, value);
    if (problem == std::errc::result_out_of_range)
      return fail(std::string(what) +
                  (std::is_floating_point_v<Number> ? " is out of range" : " is too large"));
    if (problem != std::errc{}) return fail("expected " + std::string(what));
    position_ += static_cast<std::size_t>(stop - begin);
    return true;
  }
  /// A number rounded to the dtype; what is too large for it is infinite.
  bool real(double& value, Dtype dtype, const char* what) {
    const std::size_t begin = position_;
    double written = 0;
    if (!number(written, what)) return false;
    value = rounded(begin, written, dtype);
    return true;
  }
  /// A number that the dtype has after rounding: NaN, and infinities where it has them, included.
  bool number_of(double& value, Dtype dtype, const char* what) {
    const std::size_t begin = position_;
    double written = 0;
    if (!number(written, what)) return false;
    value = rounded(begin, written, dtype);
    const std::string name(to_string(dtype));
    if (std::isinf(written) && std::isnan(value)) return fail_at(begin, name + " has no infinity");
    return std::isfinite(value) || !std::isfinite(written) ||
           fail_at(begin, "number does not fit " + name);
  }
  /// A count that is not negative.
  bool count(Index& value, const char* what) {
    const std::size_t begin = position_;
    if (!number(value, what)) return false;
    return value >= 0 || fail_at(begin, std::string(what) + " must not be negative");
  }

 private:
  /// For f32 and f64 rounded once, for narrower types by way of f64.
  double rounded(std::size_t begin, double written, Dtype dtype) const {
    float single = 0;
    const auto [stop, problem] =
        std::from_chars(text_.data() + begin, text_.data() + position_, single);
    if (dtype == Dtype::f32 && std::isfinite(written) && problem == std::errc{})
      return static_cast<double>(single);
    return rounded_to(dtype, written);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  bool failed_ = false;
  TextError error_;
};

}  // namespace attest
