// zsh and fish, which show what an option means beside its name.
#include <fmt/format.h>

#include <string_view>

#include "cli/program_text.hpp"

namespace attest::cli {
namespace {

/// Inside single quotes, which neither shell can have there as they are.
std::string quoted(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? '`' : c;
  return result;
}

/// Inside [..] of _arguments, and before a colon.
std::string zsh_quoted(std::string_view text) {
  std::string result;
  for (const char c : quoted(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_arguments(const CommandText& command) {
  std::string text;
  for (const OptionText& option : command.options) {
    if (option.positional) continue;
    for (const std::string& name : option.names)
      text += fmt::format(" \\\n      '*{}[{}]{}'", name, zsh_quoted(option.description),
                          option.takes_value ? ":value:_files" : "");
  }
  return text + " \\\n      '*:argument:_files'";
}

}  // namespace

std::string zsh_completion(const ProgramText& program) {
  std::string commands;
  std::string cases;
  for (const CommandText& command : program.commands) {
    commands += fmt::format("  '{}:{}'\n", command.name, zsh_quoted(command.description));
    cases += fmt::format("  {})\n    _arguments{}\n    ;;\n", command.name, zsh_arguments(command));
  }
  return "#compdef attest\n"
         "# Completion of attest for zsh, made by `attest completion zsh`.\n"
         "local -a commands\n"
         "commands=(\n" +
         commands +
         ")\n"
         "if (( CURRENT == 2 )); then\n"
         "  _describe -t commands command commands\n" +
         fmt::format("  compadd -- {}\n", fmt::join(program.program.flags(), " ")) +
         "  return\n"
         "fi\n"
         "local command=$words[2]\n"
         "shift words\n"
         "(( CURRENT-- ))\n"
         "case $command in\n" +
         cases + "esac\n";
}

std::string fish_completion(const ProgramText& program) {
  std::string text = "# Completion of attest for fish, made by `attest completion fish`.\n";
  const auto add = [&](const std::string& when, const OptionText& option) {
    if (option.positional) return;
    text += fmt::format("complete -c attest -n '{}'", when);
    for (const std::string& name : option.names)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    text +=
        fmt::format("{} -d '{}'\n", option.takes_value ? " -r" : "", quoted(option.description));
  };
  for (const OptionText& option : program.program.options) add("__fish_use_subcommand", option);
  for (const CommandText& command : program.commands) {
    text += fmt::format("complete -c attest -n __fish_use_subcommand -f -a {} -d '{}'\n",
                        command.name, quoted(command.description));
    for (const OptionText& option : command.options)
      add("__fish_seen_subcommand_from " + command.name, option);
  }
  return text;
}

}  // namespace attest::cli
