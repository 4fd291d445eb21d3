#include "fuzz/law_target.hpp"

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "cli/case_store.hpp"
#include "cli/case_text.hpp"
#include "cli/inputs.hpp"
#include "fuzz/case_mutator.hpp"
#include "reference/oracle.hpp"

using namespace attest;

// Of libFuzzer; a program without it replays inputs and mutates none.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                                              std::size_t max_size);

namespace {

std::string environment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

const Kernel* chosen_kernel() {
  const std::string name = environment("ATTEST_FUZZ_KERNEL", "");
  if (name.empty()) return fuzz::linked_kernel();
  const Result<const Kernel*> kernel = cli::find_kernel(name);
  if (kernel.ok()) return kernel.value();
  std::cerr << "ATTEST_FUZZ_KERNEL: " << kernel.status().message() << "\n";
  std::exit(2);
}

const fuzz::CaseForm& form() {
  static const fuzz::CaseForm only(fuzz::law_target(), chosen_kernel());
  return only;
}

/// The input that runs; null between two of them.
const fuzz::CaseInput* running = nullptr;

/// Says where the case lies, and the line that replays it.
void save(const fuzz::CaseInput& input, const Verdict& verdict) {
  const std::string folder = environment("ATTEST_FUZZ_FOUND", "attest-fuzz-found");
  const auto saved = cli::save_case(
      folder,
      {input.kernel->description().name, std::string(input.law->name), 0, verdict, input.value});
  std::cerr << (saved.ok() ? "saved   " + saved.value().string() : saved.status().message()) << "\n"
            << cli::replay_command_line(*input.kernel, input.value, input.law->name,
                                        saved.ok() ? saved.value() : std::filesystem::path{})
            << "\n"
            << std::flush;
}

void report(const fuzz::CaseInput& found, const Verdict& verdict) {
  std::cerr << "FOUND " << found.law->name << ": " << to_string(verdict.outcome) << ": "
            << verdict.reason << "\n";
  save(found, verdict);
}

void save_running() {
  if (running == nullptr) return;
  const fuzz::CaseInput& found = *running;
  running = nullptr;  // saving must not be a finding of its own
  report(found, Verdict::of(Outcome::crash, "a sanitizer stopped it"));
}

/// A violation is confirmed by both oracles, a pass is not.
Verdict judged(const fuzz::CaseInput& input) {
  Verdict verdict = properties::check_once(*input.kernel, *input.law, input.value);
  if (!is_violation(verdict.outcome)) return verdict;
  return properties::confirm(*input.kernel, *input.law, input.value, std::move(verdict));
}

std::size_t raw_mutation(std::uint8_t* data, std::size_t size, std::size_t max_size) {
  return LLVMFuzzerMutate == nullptr ? size : LLVMFuzzerMutate(data, size, max_size);
}

}  // namespace

// Called by the sanitizers before they print what they found.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" void __asan_on_error() {
  save_running();
}
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" void __ubsan_on_report() {
  save_running();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CaseInput input = form().decode({data, size});
  static const bool show = !environment("ATTEST_FUZZ_SHOW", "").empty();
  if (show) save(input, Verdict::of(Outcome::unproven, "shown before it ran"));
  running = &input;
  Verdict verdict = judged(input);
  running = nullptr;
  const bool contradiction = reference::oracle_counts().contradictions > 0;
  if (!is_violation(verdict.outcome) && !contradiction) return 0;
  if (contradiction) verdict.reason += "; the two oracles contradict each other";
  report(input, verdict);
  std::abort();
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate(form(), data, size, max_size, seed, raw_mutation);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t max_out_size, unsigned seed) {
  return fuzz::cross_over(form(), {first, first_size}, {second, second_size}, {out, max_out_size},
                          seed);
}
