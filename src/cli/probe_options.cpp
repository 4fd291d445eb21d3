#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace attest::cli {

void add_probe(CLI::App& app, ProbeOptions& options) {
  CLI::App* const probe = app.add_subcommand(
      "probe",
      "find out the conventions of a kernel by experiments, believing nothing it declares");
  probe
      ->add_option("KERNEL", options.kernel,
                   "builtin:NAME, mutant:NAME, or a kernel of your own, as in attest check")
      ->required();
  probe->add_option("--dtype", options.dtype,
                    "type of q, k and v (f32, where the kernel takes it)");
  probe->add_flag("--experiments", options.experiments,
                  "print the problem lines of every experiment (long ones are cut)");
  probe->add_option("--json", options.json,
                    "file for all findings, with the whole line of every experiment");
}

}  // namespace attest::cli
