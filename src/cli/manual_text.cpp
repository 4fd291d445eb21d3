#include <fmt/format.h>

#include <string_view>

#include "cli/program_text.hpp"

namespace attest::cli {
namespace {

/// Text as roff sets it: every hyphen as the one that a shell knows, no line that is a request.
std::string roff(std::string_view text) {
  std::string result;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin && (c == '.' || c == '\'')) result += "\\&";
    at_begin = c == '\n';
    if (c == '-')
      result += "\\-";
    else if (c == '\\')
      result += "\\e";
    else
      result += c;
  }
  return result;
}

std::string synopsis(const CommandText& command) {
  std::string text = "\\fBattest " + roff(command.name) + "\\fR [OPTIONS]";
  for (const OptionText& option : command.options) {
    if (!option.positional) continue;
    const std::string word =
        "\\fI" + roff(option.names.front()) + "\\fR" + (option.repeats ? "..." : "");
    text += option.required ? " " + word : " [" + word + "]";
  }
  return text;
}

std::string option_item(const OptionText& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += fmt::format("{}\\f{}{}\\fR", names.empty() ? "" : ", ", option.positional ? 'I' : 'B',
                         roff(name));
  if (option.takes_value && !option.positional) names += " \\fIVALUE\\fR";
  std::string text = ".TP\n" + names + "\n" + roff(option.description);
  if (!option.environment.empty())
    text += "; from the environment: \\fB" + roff(option.environment) + "\\fR";
  return text + ".\n";
}

constexpr const char* kDescription = R"(.SH DESCRIPTION
attest tests attention kernels. Every output is held against a proven bound around the exact result;
what breaks a law is made as small as it gets, and one line replays it.
.PP
A kernel has a name: \fBbuiltin:\fINAME\fR (\fBattest list kernels\fR) and others that
\fBattest check \-\-help\fR names. A problem is one line of text:
\fBattest list features\fR shows its parts.
)";

constexpr const char* kEnd = R"(.SH ENVIRONMENT
.TP
\fBATTEST_TENSORS\fR
folder of real tensors, instead of those that come with the program.
.TP
\fBATTEST_OUT\fR
folder for the folders of runs, instead of attest\-out.
.SH FILES
.TP
\fIattest\-out/TIME\fR
a run: run.jsonl, summary.md, report.html, and its cases for \fBattest replay\fR.
.TP
\fIattest\-worst\fR
stored worst cases, which \fBattest check\fR runs first.
.SH SEE ALSO
The pages in \fI/usr/share/doc/attest\fR: reports.md, diagnosis.md, numerics.md, in\-your\-build.md.
)";

}  // namespace

std::string manual_page(const ProgramText& program) {
  std::string text = fmt::format(".TH ATTEST 1 \"\" \"{}\" \"User Commands\"\n", program.version);
  text += ".SH NAME\nattest \\- is this difference rounding, or a bug?\n.SH SYNOPSIS\n";
  text += "\\fBattest\\fR \\fICOMMAND\\fR [OPTIONS]\n";
  text += kDescription;
  text += ".SH OPTIONS\n";
  for (const OptionText& option : program.program.options) text += option_item(option);
  text += ".SH COMMANDS\n";
  for (const CommandText& command : program.commands) {
    text += fmt::format(".SS {}\n{}\n.PP\n{}.\n", roff(command.name), synopsis(command),
                        roff(command.description));
    for (const OptionText& option : command.options)
      if (option.names.back() != "--help") text += option_item(option);
  }
  text += ".SH EXIT STATUS\n" + roff(program.exit_codes);
  if (!text.ends_with('\n')) text += '\n';
  return text + kEnd;
}

}  // namespace attest::cli
