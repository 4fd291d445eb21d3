// Reads the tables of options out of CLI11. For main.cpp alone: CLI11 takes long to compile.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "cli/program_text.hpp"

namespace attest::cli {

inline OptionText describe_option(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  text.positional = text.names.empty();
  if (text.positional) text.names.push_back(option.get_name());
  text.required = option.get_required();
  text.takes_value = option.get_items_expected_max() > 0;
  text.repeats = option.get_items_expected_max() > 1;
  text.environment = option.get_envname();
  text.description = option.get_description();
  return text;
}

inline CommandText describe_command(const CLI::App& app) {
  CommandText text{app.get_name(), app.get_description(), {}};
  for (const CLI::Option* const option : app.get_options())
    text.options.push_back(describe_option(*option));
  return text;
}

inline ProgramText describe_app(const CLI::App& app) {
  ProgramText text{app.version(), app.get_footer(), describe_command(app), {}};
  text.program.name = "attest";
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; }))
    text.commands.push_back(describe_command(*command));
  return text;
}

}  // namespace attest::cli
