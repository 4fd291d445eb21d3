#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cli/program_text.hpp"

namespace attest::cli {

int completion_command(const std::string& form, const ProgramText& program) {
  std::string text;
  if (form == "bash")
    text = bash_completion(program);
  else if (form == "zsh")
    text = zsh_completion(program);
  else if (form == "fish")
    text = fish_completion(program);
  else if (form == "man")
    text = manual_page(program);
  else
    return usage("completion knows bash, zsh, fish, man; not '" + form + "'");
  fmt::print("{}", text);
  return all_good;
}

}  // namespace attest::cli
