#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace attest::cli {

void add_new(CLI::App& app, NewOptions& options) {
  CLI::App* const command =
      app.add_subcommand("new", "begin a kernel of your own: files that build and pass a check");
  command->add_option("NAME", options.name, "letters, digits and _, a letter first")->required();
  command->add_option("--abi", options.abi, "c, cpp (a shared object) or pipe (a Python program)")
      ->required();
  command->add_option("--out", options.out, "folder for the files (NAME)");
}

}  // namespace attest::cli
