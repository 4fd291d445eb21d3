// The ledger of known failures: which violations are expected, for which reason and until when.
//
// One entry a line; what stands after '#' at the begin of a word is a comment.
//
//   [KEY OP VALUE ...] law=GLOB [kernel=GLOB] issue=LINK until=YYYY-MM-DD run|never-launch
//   dtype=bf16 lk>=1024 mask=causal*  law=bound.*  issue=https://x.org/7  until=2027-03-31  run
//
// A condition is one word. KEY is a key of the problem text (include/attest/problem_text.hpp; a key
// that is left out there has its default here), or one of b hq hkv lq lk d dv dtype; OP is one of
// = != < <= > >=. The value of = and != is a glob with * and ?; < <= > >= compare numbers. An entry
// is about a case if all its conditions hold. docs/known-failures.md has examples.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attest/kernel.hpp"
#include "properties/laws.hpp"

namespace attest::cli {

struct KnownFailure {
  struct Condition {
    std::string key;
    std::string op;
    std::string value;
  };
  std::string place;  ///< FILE:LINE
  std::string about;  ///< conditions, law and kernel, as they stand in the line
  std::vector<Condition> conditions;
  std::string law;     ///< glob
  std::string kernel;  ///< glob; empty: every kernel
  std::string issue;
  std::string until;  ///< the last day on which the entry counts
  bool never_launch = false;
  bool expired = false;
  mutable std::atomic<std::int64_t> calls_left_out{0};

  bool is_about(std::string_view kernel_name) const;
  bool is_about(const properties::Case& on) const;
};

using Day = std::chrono::sys_days;
Day today();

class Ledger {
 public:
  /// `name` is the file's, for messages. An error has FILE:LINE, the line, and a caret.
  static Result<Ledger> parse(std::string_view text, const std::string& name, Day day);
  static Result<Ledger> read(const std::filesystem::path& path, Day day);

  const std::vector<std::unique_ptr<KnownFailure>>& entries() const { return entries_; }

 private:
  std::vector<std::unique_ptr<KnownFailure>> entries_;
};

/// The ledger that an option names; one without entries for an empty path.
Result<Ledger> read_ledger(const std::string& path);

/// The kernel without the calls of never-launch entries: it does not support them, for the reason
/// that the ledger says. Null where no such entry is about the kernel. Both arguments are kept by
/// reference.
std::unique_ptr<Kernel> without_never_launched(const Kernel& kernel, const Ledger& ledger);

/// An entry of which all cases were judged and none failed.
struct UnexpectedPass {
  const KnownFailure* entry = nullptr;
  const properties::Law* law = nullptr;  ///< of the first case
  properties::Case first;
  Index number = 0;  ///< for a result of its own: above the numbers of the law's cases
  std::string reason;
};

/// What the ledger says about one kernel in one run.
class LedgerCheck {
 public:
  LedgerCheck(const Ledger& ledger, const std::string& kernel);

  /// Makes a violation `known` where an entry lists it. `of` is the number of cases of the law.
  void judge(const properties::Law& law, const properties::Case& on, Verdict& verdict,
             Index of = 0);

  /// The rest of the cases of a law is not run.
  void leave(const properties::Law& law);

  /// Only of a complete run: a case that did not run might have failed.
  std::vector<UnexpectedPass> unexpected_passes() const;

  /// One line an entry: what became of it.
  std::vector<std::string> lines(bool complete) const;

 private:
  struct Count {
    const KnownFailure* entry = nullptr;
    std::int64_t cases = 0;  ///< that were not skipped
    std::int64_t failed = 0;
    std::int64_t undecided = 0;
    bool cut = false;  ///< cases of one of its laws were not run
    std::int64_t calls_before = 0;
    const properties::Law* first_law = nullptr;
    properties::Case first;
    Index of = 0;

    bool passed_unexpectedly() const { return cases > 0 && failed == 0 && undecided == 0 && !cut; }
  };
  std::vector<Count> counts_;
};

}  // namespace attest::cli
