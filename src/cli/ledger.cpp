#include "cli/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "cli/inputs.hpp"
#include "cli/ledger_words.hpp"

namespace attest::cli {
namespace {

ProblemText text_of(const Problem& problem) {
  ProblemText text;
  text.problem = problem;
  return text;
}

/// Without the numbers of tensors.
ProblemText text_of(const properties::Case& on) {
  ProblemText text = text_of(on.problem);
  text.tiling = on.tiling;
  if (on.values.kind == ValueRecipe::Kind::literal)
    text.values.name = "lit";
  else
    text.values = on.values;
  return text;
}

bool holds(const KnownFailure::Condition& condition, const std::string& value) {
  const auto left = number_of(value);
  const auto right = number_of(condition.value);
  const bool equal = left && right ? *left == *right : matches_any({condition.value}, value);
  if (condition.op == "=") return equal;
  if (condition.op == "!=") return !equal;
  if (!left || !right) return false;
  if (condition.op == "<") return *left < *right;
  if (condition.op == "<=") return *left <= *right;
  return condition.op == ">" ? *left > *right : *left >= *right;
}

bool all_hold(const KnownFailure& entry, const ProblemText& text) {
  if (entry.conditions.empty()) return true;
  const std::map<std::string, std::string> words = problem_words(text);
  return std::all_of(entry.conditions.begin(), entry.conditions.end(),
                     [&](const KnownFailure::Condition& condition) {
                       return holds(condition, words.at(condition.key));
                     });
}

/// A kernel that is not asked for some calls.
class WithoutNeverLaunched final : public Kernel {
 public:
  WithoutNeverLaunched(const Kernel& kernel, std::vector<const KnownFailure*> entries)
      : kernel_(kernel), entries_(std::move(entries)) {}

  const KernelDescription& description() const override { return kernel_.description(); }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return kernel_.accuracy(problem);
  }
  Tiling preferred_tiling(const Problem& problem) const override {
    return kernel_.preferred_tiling(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = left_out(problem, tiling); !status.ok()) return status;
    return kernel_.forward(problem, tiling, views);
  }
  DeclaredGradientAccuracy gradient_accuracy(const Problem& problem) const override {
    return kernel_.gradient_accuracy(problem);
  }
  Status backward(const Problem& problem, const Tiling& tiling,
                  const BackwardViews& views) const override {
    if (Status status = left_out(problem, tiling); !status.ok()) return status;
    return kernel_.backward(problem, tiling, views);
  }
  const SummaryOps<float>* summary_ops_f32() const override { return kernel_.summary_ops_f32(); }
  const SummaryOps<double>* summary_ops_f64() const override { return kernel_.summary_ops_f64(); }

 private:
  Status left_out(const Problem& problem, const Tiling& tiling) const {
    ProblemText text = text_of(problem);
    text.tiling = tiling;
    for (const KnownFailure* const entry : entries_) {
      if (!all_hold(*entry, text)) continue;
      ++entry->calls_left_out;
      return {StatusCode::unsupported, "known failure, never launched: " + entry->issue};
    }
    return {};
  }

  const Kernel& kernel_;
  std::vector<const KnownFailure*> entries_;
};

std::string number_of_cases(std::int64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "case" : "cases");
}

}  // namespace

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number =
      error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

std::map<std::string, std::string> problem_words(const ProblemText& text) {
  const Problem& problem = text.problem;
  std::map<std::string, std::string> words;
  const auto put = [&](const char* key, Index number) { words[key] = std::to_string(number); };
  put("b", problem.batch);
  put("hq", problem.heads_q);
  put("hkv", problem.heads_kv);
  put("lq", problem.seq_q);
  put("lk", problem.seq_kv);
  put("d", problem.head_dim);
  put("dv", problem.head_dim_v);
  std::istringstream stream(canonical_text(text));
  std::string word;
  stream >> word >> words["dtype"];  // the shape is in numbers already
  while (stream >> word)
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      words[word.substr(0, equals)] = word.substr(equals + 1);
  return words;
}

bool KnownFailure::is_about(std::string_view kernel_name) const {
  return kernel.empty() || matches_any({kernel}, kernel_name);
}

bool KnownFailure::is_about(const properties::Case& on) const {
  return all_hold(*this, text_of(on));
}

std::unique_ptr<Kernel> without_never_launched(const Kernel& kernel, const Ledger& ledger) {
  std::vector<const KnownFailure*> entries;
  for (const auto& entry : ledger.entries())
    if (entry->never_launch && !entry->expired && entry->is_about(kernel.description().name))
      entries.push_back(entry.get());
  if (entries.empty()) return nullptr;
  return std::make_unique<WithoutNeverLaunched>(kernel, std::move(entries));
}

LedgerCheck::LedgerCheck(const Ledger& ledger, const std::string& kernel) {
  for (const auto& entry : ledger.entries()) {
    if (!entry->is_about(kernel)) continue;
    Count count;
    count.entry = entry.get();
    count.calls_before = entry->calls_left_out;
    counts_.push_back(std::move(count));
  }
}

void LedgerCheck::judge(const properties::Law& law, const properties::Case& on, Verdict& verdict,
                        Index of) {
  const Outcome outcome = verdict.outcome;
  if (outcome == Outcome::skipped) return;
  for (Count& count : counts_) {
    const KnownFailure& entry = *count.entry;
    if (entry.expired || entry.never_launch || !matches_any({entry.law}, law.name) ||
        !entry.is_about(on))
      continue;
    if (count.cases++ == 0) {
      count.first_law = &law;
      count.first = on;
      count.of = of;
    }
    if (is_violation(outcome)) ++count.failed;
    if (outcome == Outcome::weak || outcome == Outcome::unproven) ++count.undecided;
    if (!is_violation(verdict.outcome)) continue;
    verdict.outcome = Outcome::known;
    verdict.reason = "known failure (" + entry.issue + ")" +
                     (verdict.reason.empty() ? "" : ": " + verdict.reason);
  }
}

void LedgerCheck::leave(const properties::Law& law) {
  for (Count& count : counts_)
    if (matches_any({count.entry->law}, law.name)) count.cut = true;
}

std::vector<UnexpectedPass> LedgerCheck::unexpected_passes() const {
  std::vector<UnexpectedPass> passes;
  for (const Count& count : counts_) {
    if (!count.passed_unexpectedly()) continue;
    UnexpectedPass pass{count.entry,
                        count.first_law,
                        count.first,
                        count.of + static_cast<Index>(passes.size()),
                        {}};
    pass.reason = fmt::format("{} of a known failure, and none fails: take out {} ({})",
                              number_of_cases(count.cases), count.entry->place, count.entry->issue);
    passes.push_back(std::move(pass));
  }
  return passes;
}

std::vector<std::string> LedgerCheck::lines(bool complete) const {
  std::vector<std::string> lines;
  for (const Count& count : counts_) {
    const KnownFailure& entry = *count.entry;
    const auto add = [&](const char* word, const std::string& what) {
      lines.push_back(fmt::format("{:<7} {}  {}: {}  ({}, until {})", word, entry.place,
                                  entry.about, what, entry.issue, entry.until));
    };
    if (entry.expired) {
      add("expired", "the entry no longer counts");
    } else if (entry.never_launch) {
      const std::int64_t calls = entry.calls_left_out - count.calls_before;
      add(calls > 0 ? "known" : "unused",
          calls > 0
              ? fmt::format("{} {} not launched", calls, calls == 1 ? "call was" : "calls were")
              : "no call matched");
    } else if (count.cases == 0) {
      add("unused", "no case matched");
    } else if (count.failed > 0) {
      add("known", fmt::format("{} of {} failed", count.failed, number_of_cases(count.cases)));
    } else if (count.undecided > 0 || count.cut || !complete) {
      add("open", fmt::format("{}, none failed, {}", number_of_cases(count.cases),
                              complete && !count.cut ? fmt::format("{} undecided", count.undecided)
                                                     : std::string("but not all were run")));
    } else {
      add("xpass", fmt::format("{}, none failed", number_of_cases(count.cases)));
    }
  }
  return lines;
}

}  // namespace attest::cli
