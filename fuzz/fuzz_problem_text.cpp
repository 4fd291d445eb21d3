// Any bytes as a problem text. What is read must come back from both written forms; what is not
// read must have its error inside the text.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "attest/problem_text.hpp"

using namespace attest;

namespace {

[[noreturn]] void broken(std::string_view what, std::string_view text, std::string_view detail) {
  std::cerr << what << "\n  text  " << text << "\n        " << detail << "\n";
  std::abort();
}

/// Bits are compared, because -0 == 0; any NaN is a NaN, whose payload has no text.
bool same_numbers(const std::vector<double>& left, const std::vector<double>& right) {
  return std::ranges::equal(left, right, [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
  });
}

bool same_values(const ValueRecipe& left, const ValueRecipe& right) {
  constexpr std::array kTensors{&ValueRecipe::q,    &ValueRecipe::k,    &ValueRecipe::v,
                                &ValueRecipe::bias, &ValueRecipe::sink, &ValueRecipe::qv,
                                &ValueRecipe::dout, &ValueRecipe::dlse};
  return left.kind == right.kind && left.name == right.name && left.seed == right.seed &&
         std::ranges::all_of(
             kTensors, [&](auto tensor) { return same_numbers(left.*tensor, right.*tensor); });
}

bool same(const ProblemText& left, const ProblemText& right) {
  return left.problem == right.problem && left.tiling == right.tiling &&
         same_values(left.values, right.values) && left.law == right.law;
}

void check_round_trip(const ProblemText& parsed, const std::string& written) {
  ProblemText again;
  TextError error;
  if (!parse_problem_text(written, again, error))
    broken("a written text is not accepted", written, error.message);
  if (!same(parsed, again))
    broken("a written text means something else", written, canonical_text(again));
}

/// A few words can name a page table of a million entries; to write and to read it twice under a
/// sanitizer takes seconds, and shows nothing that a small one does not.
bool has_long_page_table(const Problem& problem) {
  constexpr std::size_t kMostEntries = 1 << 14;
  std::size_t entries = problem.kv.page_table.size();
  for (const std::vector<Index>& pages : problem.kv.page_table) entries += pages.size();
  return entries > kMostEntries;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  ProblemText parsed;
  TextError error;
  if (!parse_problem_text(text, parsed, error)) {
    if (error.position > size) broken("an error lies outside the text", text, error.message);
    return 0;
  }
  if (has_long_page_table(parsed.problem)) return 0;
  check_round_trip(parsed, canonical_text(parsed));
  check_round_trip(parsed, minimal_text(parsed));
  return 0;
}
