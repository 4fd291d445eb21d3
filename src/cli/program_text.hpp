// The program as its users see it: commands, options and what they say of themselves. Made from the
// tables of options (cli/describe_app.hpp), so that no second list can fall behind.
#pragma once

#include <string>
#include <vector>

namespace attest::cli {

struct OptionText {
  std::vector<std::string> names;  ///< "-j", "--jobs"; of a positional one its name alone
  bool positional = false;
  bool required = false;
  bool takes_value = false;
  bool repeats = false;
  std::string environment;  ///< a variable that gives its value, or empty
  std::string description;
};

struct CommandText {
  std::string name;
  std::string description;
  std::vector<OptionText> options;  ///< in the order in which --help shows them

  /// Every name of an option that is not positional.
  std::vector<std::string> flags() const {
    std::vector<std::string> all;
    for (const OptionText& option : options)
      if (!option.positional) all.insert(all.end(), option.names.begin(), option.names.end());
    return all;
  }
};

struct ProgramText {
  std::string version;     ///< "attest 0.1.0"
  std::string exit_codes;  ///< the end of --help
  CommandText program;     ///< name, one sentence, and the options before a command
  std::vector<CommandText> commands;
};

std::string bash_completion(const ProgramText& program);
std::string zsh_completion(const ProgramText& program);
std::string fish_completion(const ProgramText& program);
/// The page attest(1) in the macros of man.
std::string manual_page(const ProgramText& program);

}  // namespace attest::cli
