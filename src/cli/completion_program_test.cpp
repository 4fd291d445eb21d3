// Completions and the manual page name every command and option that --help names.
#include "cli/test_program.hpp"

namespace attest::cli {
namespace {

class Completion : public ProgramTest {
 protected:
  std::string text(const std::string& form) const {
    const Finished finished = run({"completion", form});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  }

  /// The first words of the indented lines below a heading of --help.
  std::vector<std::string> listed(const Words& arguments, const std::string& heading) const {
    std::vector<std::string> words;
    bool inside = false;
    for (const std::string& line : lines_of(run(arguments).out)) {
      const std::size_t begin = line.find_first_not_of(' ');
      if (begin == 0 || begin == std::string::npos)
        inside = line == heading;
      else if (inside && begin == 2)
        words.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    EXPECT_FALSE(words.empty()) << heading;
    return words;
  }

  std::vector<std::string> commands() const { return listed({"--help"}, "Subcommands:"); }

  /// "--jobs" of "-j,--jobs".
  std::vector<std::string> long_options(const std::string& command) const {
    std::vector<std::string> options;
    for (const std::string& names : listed({command, "--help"}, "Options:"))
      options.push_back(names.substr(names.find("--")));
    return options;
  }
};

/// As roff writes a hyphen.
std::string roff(std::string text) {
  for (std::size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Completion, KnowsEveryCommandAndOption) {
  const std::string bash = text("bash");
  const std::string zsh = text("zsh");
  const std::string fish = text("fish");
  const std::string manual = text("man");
  ASSERT_GE(commands().size(), 14U);
  for (const std::string& command : commands()) {
    EXPECT_TRUE(has(bash, "      " + command + ") words=")) << command;
    EXPECT_TRUE(has(zsh, "  '" + command + ":")) << command;
    EXPECT_TRUE(has(fish, "-f -a " + command + " -d")) << command;
    EXPECT_TRUE(has(manual, ".SS " + command + "\n")) << command;
    for (const std::string& option : long_options(command)) {
      EXPECT_TRUE(has(bash, option)) << command << " " << option;
      EXPECT_TRUE(has(zsh, "'*" + option + "[")) << command << " " << option;
      EXPECT_TRUE(has(fish, " -l " + option.substr(2) + " ")) << command << " " << option;
      EXPECT_TRUE(has(manual, "\\fB" + roff(option) + "\\fR")) << command << " " << option;
    }
  }
}

/// What bash offers for the last of these words.
std::string offered(const std::string& script, const std::string& words) {
  const std::string command = "PATH=\"$(dirname " ATTEST_PROGRAM "):$PATH\"; source " + script +
                              "; COMP_WORDS=(" + words +
                              "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _attest; "
                              "echo \"${COMPREPLY[*]}\"";
  std::FILE* const pipe = ::popen(("bash --norc -c '" + command + "'").c_str(), "r");
  std::string answer;
  char buffer[4096];
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr) answer += buffer;
  EXPECT_EQ(::pclose(pipe), 0);
  return answer.substr(0, answer.find_last_not_of('\n') + 1);
}

TEST_F(Completion, OfBashCompletesCommandsOptionsKernelsAndLaws) {
  write("attest.bash", text("bash"));
  const std::string script = (folder() / "attest.bash").string();
  EXPECT_EQ(offered(script, "attest exh"), "");
  EXPECT_EQ(offered(script, "attest ch"), "check");
  EXPECT_EQ(offered(script, "attest check --shr"), "--shrink-time");
  EXPECT_EQ(offered(script, "attest check builtin:text"), "builtin:textbook");
  EXPECT_EQ(offered(script, "attest check builtin:textbook --only merge.two"), "merge.two_empties");
  EXPECT_EQ(offered(script, "attest check --tier nig"), "nightly");
  EXPECT_EQ(offered(script, "attest doctor --shr"), "");
}

TEST_F(Completion, RefusesAnUnknownForm) {
  expect_refused({"completion", "tcsh"}, {"tcsh", "bash, zsh, fish, man"});
}

TEST_F(Completion, WritesAManualWithoutAWarning) {
  if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "groff is not installed";
  write("attest.1", text("man"));
  const std::string page = (folder() / "attest.1").string();
  const std::string warnings = (folder() / "warnings").string();
  ASSERT_EQ(std::system(("groff -man -Tutf8 -ww -z " + page + " >" + warnings + " 2>&1").c_str()),
            0);
  EXPECT_EQ(read("warnings"), "");
}

TEST_F(Completion, ChecksOnlyTheTypesThatAreNamed) {
  const Finished finished = run({"check", "builtin:textbook", "--only", "bound.out", "--tier",
                                 "smoke", "--dtype", "f64", "--format", "csv"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<std::string> lines = lines_of(finished.out);
  ASSERT_GT(lines.size(), 20U);
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_TRUE(has(lines[i], ",f64,")) << lines[i];
  expect_refused({"check", "builtin:textbook", "--dtype", "f31"}, {"f31"});
  expect_refused({"check", "builtin:textbook", "1x1:1x1:1 f32", "--dtype", "f32"}, {"--dtype"});
}

}  // namespace
}  // namespace attest::cli
