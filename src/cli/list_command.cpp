#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cli/list_vocabulary.hpp"
#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/laws.hpp"
#include "properties/values.hpp"

namespace attest::cli {
namespace {

void list_kernels() {
  for (const auto& kernel : kernels::builtin_kernels())
    fmt::print("{:<30} {}\n", kernel->description().name, kernel->description().summary);
}

void list_mutants() {
  for (const mutants::Mutant& mutant : mutants::all())
    fmt::print("{:<42} {} (killed by {})\n", mutant.kernel->description().name,
               mutant.kernel->description().summary, mutant.killed_by);
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
        "list knows kernels, mutants, laws, families, masks, features, tiers, dtypes; not '" +
        what + "'");
  return all_good;
}

}  // namespace attest::cli
