#include "cli/replay_inputs.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "cli/case_store.hpp"
#include "foreign/plugin.hpp"

namespace attest::cli {
namespace {

namespace fs = std::filesystem;

struct Given {
  std::string source;  ///< folder of a saved case; empty: a line on the command line
  std::string kernel;  ///< of a saved case; empty: the one on the command line
  properties::GivenCase given;
};

/// A saved case, or every saved case below a folder.
Result<std::vector<Given>> load_folder(const fs::path& folder) {
  auto found = load_cases(folder);
  if (!found.ok()) return found.status();
  if (found.value().empty())
    return Status{StatusCode::io_error, "no saved case below " + folder.string()};
  std::vector<Given> replays;
  for (auto& [path, stored] : found.value())
    replays.push_back({path.string(), stored.kernel, {std::move(stored.value), stored.law}});
  return replays;
}

/// Problem lines and folders may have a '/', too: a line has blanks.
bool names_kernel(const std::string& argument) {
  std::error_code ignored;
  return argument.starts_with("builtin:") || argument.starts_with("mutant:") ||
         argument.starts_with("correct:") || argument.starts_with("pipe:") ||
         find_linked(argument) != nullptr ||
         (foreign::names_plugin(argument) && argument.find(' ') == std::string::npos &&
          !fs::is_directory(argument, ignored));
}

/// Finds the kernel and the law that it names.
Result<ReplayInput> resolved(const std::string& command, const std::string& named_kernel,
                             Given&& given) {
  const auto wrong = [&](const std::string& what) {
    return invalid_argument(given.source.empty() ? what : given.source + "/case.json: " + what);
  };
  const std::string& name = named_kernel.empty() ? given.kernel : named_kernel;
  if (name.empty()) return wrong(command + " of a problem line needs a kernel");
  const auto kernel = find_kernel(name);
  if (!kernel.ok()) return wrong(kernel.status().message());
  const std::string& law_name = given.given.law;
  const properties::Law* const law = properties::find_law(law_name);
  if (law == nullptr && !law_name.empty()) return wrong("unknown law '" + law_name + "'");
  return ReplayInput{kernel.value(), law, std::move(given.given.value)};
}

}  // namespace

Result<std::vector<ReplayInput>> load_replay_inputs(const std::string& command,
                                                    const std::vector<std::string>& words,
                                                    const tensors::TensorLibrary* library) {
  std::string kernel_name;
  std::vector<Given> all;
  for (const std::string& word : words) {
    if (names_kernel(word)) {
      if (!kernel_name.empty())
        return invalid_argument(fmt::format("two kernels are named: {}, {}", kernel_name, word));
      kernel_name = word;
      continue;
    }
    std::error_code ignored;
    if (fs::is_directory(word, ignored)) {
      auto loaded = load_folder(word);
      if (!loaded.ok()) return loaded.status();
      std::move(loaded.value().begin(), loaded.value().end(), std::back_inserter(all));
      continue;
    }
    auto given = parse_given(word, library);
    if (!given.ok()) return given.status();
    all.push_back({"", "", std::move(given).value()});
  }
  if (all.empty())
    return invalid_argument(command + " needs a problem line or the folder of a saved case");
  std::vector<ReplayInput> inputs;
  for (Given& given : all) {
    Result<ReplayInput> input = resolved(command, kernel_name, std::move(given));
    if (!input.ok()) return input.status();
    inputs.push_back(std::move(input).value());
  }
  return inputs;
}

}  // namespace attest::cli
