#include "probe/probe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/file_output.hpp"
#include "cli/inputs.hpp"

namespace attest::cli {
namespace {

using probe::Finding;
using probe::Findings;
using probe::Sureness;

constexpr int kFormatVersion = 1;
constexpr std::size_t kLongestLine = 110;

std::string shortened(const std::string& line) {
  if (line.size() <= kLongestLine) return line;
  return line.substr(0, kLongestLine) + "... (" + std::to_string(line.size()) +
         " characters: --json)";
}

std::string value_of(const Finding& finding) {
  return finding.value.empty() ? "cannot tell" : finding.value;
}

/// Features that cannot be asked for, which are told in one line.
std::string not_declared(const Findings& all) {
  std::string names;
  for (const Finding& one : all.findings)
    if (one.not_declared) names += (names.empty() ? "" : "; ") + one.name;
  return names;
}

void print_text(const Findings& all, bool with_experiments) {
  std::size_t names = 0;
  std::size_t values = 0;
  for (const Finding& one : all.findings) {
    if (one.not_declared) continue;
    names = std::max(names, one.name.size());
    values = std::max(values, std::min(value_of(one).size(), std::size_t{48}));
  }
  for (const Finding& one : all.findings) {
    if (one.not_declared) continue;
    const std::string sure =
        one.sureness == Sureness::cannot_tell ? "" : std::string(to_string(one.sureness)) + ": ";
    fmt::print("{:<{}}  {:<{}}  {}{}\n", one.name, names, value_of(one), values, sure, one.reason);
    for (const std::string& line : one.experiments)
      if (with_experiments) fmt::print("    '{}'\n", shortened(line));
  }
  if (const std::string left = not_declared(all); !left.empty())
    fmt::print("not declared, so not tried: {}\n", left);
  if (!all.suggested.empty()) fmt::print("suggested text: {}\n", all.suggested);
  if (with_experiments) fmt::print("again: attest check {} 'LINE' --only 'bound.*'\n", all.kernel);
}

nlohmann::ordered_json json_of(const Findings& all) {
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const Finding& one : all.findings)
    findings.push_back({{"name", one.name},
                        {"value", one.value},
                        {"sureness", to_string(one.sureness)},
                        {"reason", one.reason},
                        {"words", one.words},
                        {"declared", !one.not_declared},
                        {"experiments", one.experiments}});
  return {{"format", kFormatVersion},
          {"kernel", all.kernel},
          {"suggested", all.suggested},
          {"findings", std::move(findings)}};
}

}  // namespace

int probe_command(const ProbeOptions& options) {
  const Result<const Kernel*> kernel = find_kernel(options.kernel);
  if (!kernel.ok()) return usage(kernel.status().message());
  const std::optional<Dtype> dtype = dtype_from_string(options.dtype);
  if (!options.dtype.empty() && !dtype) return usage("unknown dtype '" + options.dtype + "'");
  const Findings all = probe::probe_kernel(*kernel.value(), dtype);
  if (!options.json.empty())
    if (const Status status = write_file(options.json, json_of(all).dump(1) + "\n"); !status.ok())
      return usage(status.message());
  print_text(all, options.experiments);
  const bool any = std::any_of(all.findings.begin(), all.findings.end(), [](const Finding& one) {
    return one.sureness != Sureness::cannot_tell;
  });
  return any ? all_good : undecided;
}

}  // namespace attest::cli
