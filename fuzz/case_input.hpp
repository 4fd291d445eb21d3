// The form of an input of the law targets. It is one of
//
//   [KERNEL] PROBLEM-LINE        as `attest replay` takes them, with law=NAME; small enough
//   any other bytes              choices, one after the other: kernel, law, case (BytesDraw)
//
// Decoding is total. Sizes are limited, so that an execution takes about a millisecond: the bugs
// of attention that are known need few keys, and a fuzzer lives by its executions a second.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/check.hpp"

namespace attest::fuzz {

/// What a target runs.
struct LawTarget {
  bool (*runs)(const properties::Law& law);
  /// Whether a kernel has anything to do with these laws.
  bool (*suits)(const Kernel& kernel);
  properties::Case (*draw)(properties::Draw& draw, const properties::CaseLimits& limits);
};

struct CaseInput {
  const Kernel* kernel = nullptr;
  const properties::Law* law = nullptr;
  properties::Case value;
};

class CaseForm {
 public:
  /// `only` is the kernel of every input; null: the input chooses among the built-in ones.
  CaseForm(const LawTarget& target, const Kernel* only);

  CaseInput decode(std::span<const std::uint8_t> bytes) const;
  /// As a line, which decodes to the same input.
  std::string encode(const CaseInput& input) const;
  /// Kernel, law and case out of nothing but choices.
  CaseInput drawn(properties::Draw& draw) const;
  const properties::Law& drawn_law(properties::Draw& draw) const;

 private:
  bool decode_line(std::string_view line, CaseInput& into) const;

  const LawTarget& target_;
  bool kernel_is_fixed_;
  std::vector<const Kernel*> kernels_;
  std::vector<const properties::Law*> laws_;
};

/// Whether a case is small enough to be an input.
bool is_small(const ProblemText& text);

}  // namespace attest::fuzz
