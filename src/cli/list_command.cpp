#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cli/linked_program.hpp"
#include "cli/list_vocabulary.hpp"
#include "kernels/registry.hpp"
#include "mutants/bug_reports.hpp"
#include "mutants/mutants.hpp"
#include "properties/laws.hpp"
#include "properties/values.hpp"

namespace attest::cli {
namespace {

void list_kernels() {
  const auto print = [](const auto& kernels) {
    for (const auto& kernel : kernels)
      fmt::print("{:<30} {}\n", kernel->description().name, kernel->description().summary);
  };
  print(linked_program().kernels);
  print(kernels::builtin_kernels());
}

/// The public reports with the same mechanism.
std::string stands_for(std::string_view mutant) {
  std::string ids;
  for (const std::string& id : mutants::reports_of(mutant)) ids += " " + id;
  return ids;
}

void list_mutants() {
  for (const mutants::Mutant& mutant : mutants::all())
    fmt::print("{:<42} {} (killed by {}){}\n", mutant.kernel->description().name,
               mutant.kernel->description().summary, mutant.killed_by,
               stands_for(mutant.kernel->description().name));
}

void list_reports() {
  for (const mutants::BugReport& report : mutants::bug_reports()) {
    std::string what;
    for (const std::string_view name : report.mutants)
      what += fmt::format("{}{}", what.empty() ? "" : ", ", name);
    fmt::print(
        "{:<5} {}: {}\n", report.id, report.mechanism,
        report.mutants.empty() ? fmt::format("out of reach, {}", report.out_of_reach) : what);
  }
}

void list_laws() {
  for (const properties::Law& law : properties::laws())
    fmt::print("{:<30} {}\n{:<30} {}\n", law.name, law.sentence, "", law.formula);
}

void list_families() {
  for (const properties::ValueFamily& family : properties::value_families())
    fmt::print("{:<16} {}\n", family.name, family.sentence);
}

}  // namespace

int list_command(const std::string& what) {
  if (what == "kernels")
    list_kernels();
  else if (what == "mutants")
    list_mutants();
  else if (what == "reports")
    list_reports();
  else if (what == "laws" || what == "properties")
    list_laws();
  else if (what == "families")
    list_families();
  else if (what == "masks")
    list_masks();
  else if (what == "features")
    list_features();
  else if (what == "tiers")
    fmt::print("smoke     20 cases a law\nci        200 cases a law\nnightly   5000 cases a law\n");
  else if (what == "dtypes")
    list_dtypes();
  else
    return usage(
        "list knows kernels, mutants, reports, laws, families, masks, features, tiers, dtypes; not "
        "'" +
        what + "'");
  return all_good;
}

}  // namespace attest::cli
