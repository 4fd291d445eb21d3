// Outcome of a call into the library: the library never prints and never aborts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace attest {

using Index = std::int64_t;

/// One row of the output: batch member, query head, query.
struct RowIndex {
  Index batch = 0;
  Index head = 0;
  Index query = 0;
  friend bool operator==(const RowIndex&, const RowIndex&) = default;
};

enum class StatusCode {
  ok,
  unsupported,       ///< well-formed, but not declared by this kernel
  invalid_argument,  ///< contradictory shapes, views or text
  all_masked_row,    ///< a row has no visible key and the policy is `reject`; `row` names it
  kernel_failed,     ///< a kernel returned an error that the problem does not justify
  undecided,         ///< no verdict: no enclosure that is narrow enough, or no proven bound
  io_error,          ///< a file cannot be read or written
  kernel_ended,      ///< the process of a kernel ended, or said what is no answer
  timed_out,         ///< a kernel gave no answer within its time
  broken_contract,   ///< a kernel did what no kernel may do: wrote outside its results, changed an
                     ///< input or the arithmetic of the processor, printed
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  Status(StatusCode code, std::string message, RowIndex row)
      : code_(code), message_(std::move(message)), row_(row) {}

  bool ok() const noexcept { return code_ == StatusCode::ok; }
  StatusCode code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }
  const std::optional<RowIndex>& row() const noexcept { return row_; }

 private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
  std::optional<RowIndex> row_;
};

inline Status invalid_argument(std::string message) {
  return {StatusCode::invalid_argument, std::move(message)};
}

/// A value, or the status that says why there is none.
template <class Value>
class [[nodiscard]] Result {
 public:
  Result(Value value) : held_(std::move(value)) {}     // NOLINT(google-explicit-constructor)
  Result(Status status) : held_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return std::holds_alternative<Value>(held_); }
  const Value& value() const& { return std::get<Value>(held_); }
  Value& value() & { return std::get<Value>(held_); }
  Value&& value() && { return std::get<Value>(std::move(held_)); }
  Status status() const { return ok() ? Status{} : std::get<Status>(held_); }

 private:
  std::variant<Value, Status> held_;
};

}  // namespace attest
