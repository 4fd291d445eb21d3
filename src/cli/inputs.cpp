#include "cli/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "attest/glob.hpp"
#include "cli/data_folder.hpp"
#include "cli/linked_program.hpp"
#include "foreign/loaded_kernels.hpp"
#include "kernels/registry.hpp"
#include "mutants/correct_kernels.hpp"
#include "mutants/mutants.hpp"
#include "properties/hard_cases.hpp"

namespace attest::cli {
namespace {

constexpr std::string_view kLinked = "linked";

Status check_globs(const std::vector<std::string>& globs) {
  for (const std::string& glob : globs)
    if (std::none_of(properties::laws().begin(), properties::laws().end(),
                     [&](const properties::Law& law) { return glob_matches(glob, law.name); }))
      return invalid_argument("no law matches '" + glob + "' (attest list laws shows them)");
  return {};
}

/// Up to '#', without the blanks before it: lines are copied from files together with their notes.
std::string without_comment(const std::string& line) {
  const std::string text = line.substr(0, line.find('#'));
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

}  // namespace

bool matches_any(const std::vector<std::string>& globs, std::string_view text) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return glob_matches(glob, text); });
}

const Kernel* find_linked(std::string_view name) {
  const auto& linked = linked_program().kernels;
  for (const auto& kernel : linked)
    if (kernel->description().name == name || (name == kLinked && kernel == linked.front()))
      return kernel.get();
  return nullptr;
}

Result<const Kernel*> find_kernel(const std::string& name) {
  if (const Kernel* kernel = find_linked(name)) return kernel;
  if (const Kernel* kernel = kernels::find_builtin(name)) return kernel;
  if (const mutants::Mutant* mutant = mutants::find(name)) return mutant->kernel.get();
  for (const auto& kernel : mutants::correct_kernels())
    if (kernel->description().name == name) return kernel.get();
  if (foreign::names_foreign_kernel(name)) return foreign::loaded_kernel(name);
  std::string known;
  for (const auto& kernel : linked_program().kernels) known += " " + kernel->description().name;
  for (const auto& kernel : kernels::builtin_kernels()) known += " " + kernel->description().name;
  return invalid_argument("unknown kernel '" + name + "'; known:" + known +
                          " (attest list mutants shows the wrong ones), a shared object, as "
                          "./libmine.so, or pipe:COMMAND");
}

Result<std::vector<const properties::Law*>> select_laws(const std::vector<std::string>& only,
                                                        const std::vector<std::string>& skip) {
  if (Status status = check_globs(only); !status.ok()) return status;
  if (Status status = check_globs(skip); !status.ok()) return status;
  std::vector<const properties::Law*> selected;
  for (const properties::Law& law : properties::laws())
    if ((only.empty() || matches_any(only, law.name)) && !matches_any(skip, law.name))
      selected.push_back(&law);
  if (selected.empty()) return invalid_argument("--only and --skip leave no law");
  return selected;
}

Result<std::unique_ptr<tensors::TensorLibrary>> open_tensors(
    const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> paths(folders.begin(), folders.end());
  if (paths.empty()) {
    const char* const from_environment = std::getenv("ATTEST_TENSORS");
    const std::filesystem::path fallback =
        from_environment != nullptr ? from_environment : data_folder();
    if (from_environment == nullptr && fallback.empty())
      return std::unique_ptr<tensors::TensorLibrary>();
    paths.push_back(fallback);
  }
  Result<tensors::TensorLibrary> library = tensors::TensorLibrary::open(paths);
  if (!library.ok()) return library.status();
  return std::make_unique<tensors::TensorLibrary>(std::move(library).value());
}

Result<properties::GivenCase> parse_given(const std::string& given,
                                          const tensors::TensorLibrary* library) {
  const std::string line = without_comment(given);
  ProblemText text;
  TextError error;
  const auto refused = [&](const TextError& where) {
    return invalid_argument("cannot use this problem:\n" + with_caret(line, where));
  };
  if (!parse_problem_text(line, text, error)) return refused(error);
  const auto at = [&](std::string_view key) {
    const std::size_t found = line.find(key);
    return found == std::string::npos ? 0 : found;
  };
  if (!text.law.empty() && properties::find_law(text.law) == nullptr)
    return refused({"unknown law '" + text.law + "' (attest list laws shows them)", at("law=")});
  Result<properties::Case> made = properties::make_case(text, library);
  if (!made.ok()) return refused({made.status().message(), at("vals=")});
  return properties::GivenCase{std::move(made).value(), text.law};
}

Result<std::vector<properties::GivenCase>> read_problem_file(
    const std::string& path, const tensors::TensorLibrary* library) {
  std::ifstream file(path);
  if (!file) return Status{StatusCode::io_error, "cannot read " + path};
  std::vector<properties::GivenCase> cases;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (without_comment(line).empty()) continue;
    Result<properties::GivenCase> given = parse_given(line, library);
    if (!given.ok())
      return invalid_argument(fmt::format("{}:{}: {}", path, number, given.status().message()));
    cases.push_back(std::move(given).value());
  }
  if (cases.empty()) return invalid_argument(path + " has no problem line");
  return cases;
}

Result<std::vector<properties::GivenCase>> hard_cases(const tensors::TensorLibrary* library) {
  std::vector<properties::GivenCase> cases;
  for (const std::string_view line : properties::hard_case_lines()) {
    Result<properties::GivenCase> given = parse_given(std::string(line), library);
    if (!given.ok()) return given.status();
    cases.push_back(std::move(given).value());
  }
  return cases;
}

Result<std::uint64_t> parse_seed(const std::string& text) {
  if (text == "random") {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) | device();
  }
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const char* const begin = text.data() + (is_hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  std::uint64_t seed = 0;
  const auto [stop, problem] = std::from_chars(begin, end, seed, is_hex ? 16 : 10);
  if (problem != std::errc{} || stop != end)
    return invalid_argument("--seed takes a number below 2^64 or 'random', got '" + text + "'");
  return seed;
}

int resolve_jobs(int jobs) {
  if (jobs > 0) return jobs;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace attest::cli
