#include "cli/sweep_range.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace attest::cli {
namespace {

constexpr std::array<std::string_view, 4> kNames{"lk", "d", "spread", "dtype"};

/// A part of the text, and where it begins.
struct Part {
  std::string_view text;
  std::size_t at = 0;
};

std::vector<Part> split(const Part& whole, char separator) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string_view::npos; begin = end + 1) {
    end = whole.text.find(separator, begin);
    parts.push_back({whole.text.substr(begin, end - begin), whole.at + begin});
    if (end == std::string_view::npos) break;
  }
  return parts;
}

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Result<SweepRange> parse() {
    SweepRange range;
    const std::size_t equals = text_.find('=');
    const Part name{std::string_view(text_).substr(0, equals), 0};
    std::size_t number = 0;
    while (number < kNames.size() && kNames[number] != name.text) ++number;
    if (number == kNames.size() || equals == std::string::npos)
      return refused(name, "not lk=, d=, spread= or dtype=");
    range.over = static_cast<SweepOver>(number);
    const Part values{std::string_view(text_).substr(equals + 1), equals + 1};
    Status status = range.over == SweepOver::dtype                    ? append_dtypes(values, range)
                    : values.text.find(':') == std::string_view::npos ? append_list(values, range)
                                                                      : append_steps(values, range);
    if (!status.ok()) return status;
    return range;
  }

 private:
  Status refused(const Part& part, const std::string& why) const {
    return invalid_argument(
        fmt::format("--over '{}', character {}: '{}': {}", text_, part.at + 1, part.text, why));
  }

  Status append_dtypes(const Part& values, SweepRange& range) const {
    for (const Part& part : split(values, ',')) {
      const auto dtype = dtype_from_string(part.text);
      if (!dtype) return refused(part, "no dtype (attest list dtypes shows them)");
      range.values.push_back(
          {std::string(part.text), static_cast<double>(range.values.size()), *dtype});
    }
    return {};
  }

  Result<double> number(const Part& part) const {
    std::string_view digits = part.text;
    const bool thousand = !digits.empty() && (digits.back() == 'k' || digits.back() == 'K');
    if (thousand) digits.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
      return refused(part, "no number, such as 64, 0.5 or 64k");
    return thousand ? value * 1024 : value;
  }

  Status append(SweepOver over, double value, const Part& part, SweepRange& range) const {
    if (value <= 0) return refused(part, "must be above 0");
    if (over != SweepOver::spread && (value != std::floor(value) || value > 0x1p40))
      return refused(part, fmt::format("{} takes whole numbers up to 2^40", to_string(over)));
    if (range.values.size() == kMostSweepValues)
      return refused(part, fmt::format("more than {} values", kMostSweepValues));
    range.values.push_back({fmt::format("{}", value), value, Dtype::f32});
    if (over != SweepOver::spread)
      range.values.back().text = fmt::format("{}", static_cast<Index>(value));
    return {};
  }

  Status append_list(const Part& values, SweepRange& range) const {
    for (const Part& part : split(values, ',')) {
      const auto value = number(part);
      if (!value.ok()) return value.status();
      if (Status status = append(range.over, value.value(), part, range); !status.ok())
        return status;
    }
    return {};
  }

  Status append_steps(const Part& values, SweepRange& range) const {
    const std::vector<Part> parts = split(values, ':');
    if (parts.size() > 3) return refused(parts[3], "a range is BEGIN:END or BEGIN:END:STEP");
    const auto begin = number(parts[0]);
    if (!begin.ok()) return begin.status();
    const auto end = number(parts[1]);
    if (!end.ok()) return end.status();
    if (end.value() < begin.value()) return refused(parts[1], "the end is below the begin");
    const Part step_text = parts.size() == 3 ? parts[2] : Part{"x2", values.at};
    const bool times = step_text.text.substr(0, 1) == "x";
    if (!times && step_text.text.substr(0, 1) != "+")
      return refused(step_text, "a step is xFACTOR or +SUMMAND");
    const auto step = number({step_text.text.substr(1), step_text.at + 1});
    if (!step.ok()) return step.status();
    if (!(step.value() > (times ? 1 : 0)))
      return refused(step_text, times ? "a factor must be above 1" : "a summand must be above 0");
    double value = begin.value();
    for (Index i = 1; value <= end.value(); ++i) {
      if (Status status = append(range.over, value, parts[0], range); !status.ok()) return status;
      // Not by repeated addition: 0.1 ten times is not 1.
      value = times ? value * step.value() : begin.value() + static_cast<double>(i) * step.value();
    }
    return {};
  }

  const std::string& text_;
};

}  // namespace

std::string to_string(SweepOver over) {
  return std::string(kNames[static_cast<std::size_t>(over)]);
}

Result<SweepRange> parse_sweep_range(const std::string& text) {
  return Parser(text).parse();
}

Result<ProblemText> with_value(ProblemText base, SweepOver over, const SweepValue& value) {
  Problem& problem = base.problem;
  const auto whole = static_cast<Index>(value.number);
  switch (over) {
    case SweepOver::lk:
      problem.seq_kv = whole;
      problem.key_lengths.clear();
      break;
    case SweepOver::d:
      if (problem.head_dim_v == problem.head_dim) problem.head_dim_v = whole;
      problem.head_dim = whole;
      break;
    case SweepOver::spread: {
      const double scale = value.number / std::sqrt(static_cast<double>(problem.head_dim));
      problem.scale = {false, problem.compute_dtype() == Dtype::f64
                                  ? scale
                                  : static_cast<double>(static_cast<float>(scale))};
      break;
    }
    case SweepOver::dtype:
      problem.dtype = value.dtype;
      problem.k_storage.reset();
      problem.v_storage.reset();
      problem.out_storage.reset();
      break;
  }
  const auto refused = [&](const std::string& why) {
    return invalid_argument(
        fmt::format("{}={} does not fit the problem: {}", to_string(over), value.text, why));
  };
  if (base.values.kind == ValueRecipe::Kind::literal &&
      (over == SweepOver::lk || over == SweepOver::d))
    return refused("vals=lit: has its numbers for one shape only");
  if (Status status = validate(problem); !status.ok()) return refused(status.message());
  if (Status status = validate(base.tiling, problem.seq_kv); !status.ok())
    return refused(status.message());
  return base;
}

}  // namespace attest::cli
