#include <fmt/format.h>

#include <algorithm>

#include "cli/program_text.hpp"

namespace attest::cli {
namespace {

constexpr const char* kBegin =
    R"bash(# Completion of attest for bash, made by `attest completion bash`.
_attest() {
  local cur command= words= kernels= word
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n : cur
  else
    cur=${COMP_WORDS[COMP_CWORD]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) command=$word; break ;; esac
  done
  case ${COMP_WORDS[COMP_CWORD-1]} in
    --only | --skip) words=$(attest list laws 2>/dev/null | sed -n 's/^\([a-z][^ ]*\).*/\1/p') ;;
    --tier) words='smoke ci nightly' ;;
  esac
  if [[ -z $words ]]; then
    case $command in
)bash";

constexpr const char* kEnd = R"bash(    esac
  fi
  if [[ -n $kernels && $cur != -* && $cur != */* ]]; then
    words+=" $(attest list kernels 2>/dev/null | cut -d ' ' -f 1)"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$cur"; fi
}
complete -o default -F _attest attest
)bash";

bool takes_kernel(const CommandText& command) {
  return std::any_of(command.options.begin(), command.options.end(), [](const OptionText& option) {
    return option.positional && option.names.front() == "KERNEL";
  });
}

}  // namespace

std::string bash_completion(const ProgramText& program) {
  std::string first = fmt::format("{}", fmt::join(program.program.flags(), " "));
  std::string cases;
  for (const CommandText& command : program.commands) {
    first += " " + command.name;
    cases +=
        fmt::format("      {}) words='{}'{} ;;\n", command.name, fmt::join(command.flags(), " "),
                    takes_kernel(command) ? " kernels=yes" : "");
  }
  return kBegin + fmt::format("      '') words='{}' ;;\n", first) + cases + kEnd;
}

}  // namespace attest::cli
