// attest check --format: to files and to standard output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Which elements begin and end where, or a failure of the test.
void expect_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = xml.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
    const std::string name = tag.substr(0, tag.find(' '));
    if (tag.front() == '/') {
      ASSERT_FALSE(open.empty()) << tag;
      ASSERT_EQ("/" + open.back(), tag);
      open.pop_back();
    } else if (tag.front() != '?' && tag.back() != '/') {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
}

/// The numbers that stand as `attribute` in every element `name`, in order.
std::vector<int> numbers(const std::string& xml, const std::string& name,
                         const std::string& attribute) {
  std::vector<int> found;
  const std::string begin = "<" + name + " ";
  for (std::size_t at = xml.find(begin); at != std::string::npos; at = xml.find(begin, at + 1)) {
    const std::size_t value = xml.find(" " + attribute + "=\"", at) + attribute.size() + 3;
    EXPECT_LT(value, xml.find('>', at)) << attribute;
    found.push_back(std::stoi(xml.substr(value)));
  }
  return found;
}

int sum(const std::vector<int>& values) {
  int total = 0;
  for (const int value : values) total += value;
  return total;
}

class CheckFormat : public ProgramTest {
 protected:
  Finished smoke(const std::string& kernel, const Words& formats) const {
    Words arguments{"check", kernel, "--tier", "smoke", "--out", "out"};
    for (const std::string& format : formats) {
      arguments.emplace_back("--format");
      arguments.push_back(format);
    }
    return run(arguments);
  }
};

TEST_F(CheckFormat, EveryFormatGoesToItsFileAndTextStaysOnTheTerminal) {
  const Finished finished = smoke("mutant:causal_one_too_many",
                                  {"junit=a.xml", "md=a.md", "jsonl=a.jsonl", "text=a.txt"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.err, "");
  EXPECT_TRUE(read("a.txt") == finished.out);
  EXPECT_TRUE(read("a.md") == read("out/summary.md"));
  EXPECT_TRUE(read("a.jsonl") == read("out/run.jsonl"));
  expect_well_formed(read("a.xml"));
}

TEST_F(CheckFormat, JunitCountsTheViolatedAndTheSkippedLaws) {
  for (const std::string kernel : {"mutant:causal_one_too_many", "builtin:textbook"}) {
    smoke(kernel, {"junit=a.xml"});
    const std::string xml = read("a.xml");
    const std::vector<Json> lines = json_lines(read("out/run.jsonl"));
    const Json& summary = lines.back();
    int violated = 0;
    int skipped = 0;
    for (const Json& law : summary["laws"]) {
      violated += law["violations"] > 0 ? 1 : 0;
      skipped += law["skipped"] == law["cases"] ? 1 : 0;
    }
    const auto laws = static_cast<int>(summary["laws"].size());
    EXPECT_EQ(numbers(xml, "testsuites", "tests"), std::vector{laws});
    EXPECT_EQ(numbers(xml, "testsuites", "failures"), std::vector{violated});
    EXPECT_EQ(numbers(xml, "testsuites", "skipped"), std::vector{skipped});
    EXPECT_EQ(numbers(xml, "testsuite", "tests"),
              std::vector<int>(static_cast<std::size_t>(laws), 1));
    EXPECT_EQ(sum(numbers(xml, "testsuite", "failures")), violated);
    EXPECT_EQ(sum(numbers(xml, "testsuite", "skipped")), skipped);
    EXPECT_EQ(summary["violations"], violated);
    int shrunk = 0;
    for (const Json& line : lines) {
      if (line["type"] != "violation") continue;
      ++shrunk;
      EXPECT_THAT(xml, HasSubstr("FAIL " + line["found"]["law"].get<std::string>()));
    }
    EXPECT_EQ(shrunk, violated);
  }
}

TEST_F(CheckFormat, AFormatWithoutAFileReplacesTheTextOnStandardOutput) {
  EXPECT_THAT(smoke("builtin:textbook", {"junit"}).out, StartsWith("<?xml "));
  const std::string markdown = smoke("builtin:textbook", {"md"}).out;
  EXPECT_TRUE(markdown == read("out/summary.md"));
  const std::string lines = smoke("builtin:textbook", {"jsonl"}).out;
  EXPECT_TRUE(lines == read("out/run.jsonl"));
  EXPECT_THAT(last_line(smoke("builtin:textbook", {"text"}).out), StartsWith("PASSED  "));
}

TEST_F(CheckFormat, ViolationsOfEveryKindStayWellFormedInEveryFile) {
  for (const std::string kernel : {"mutant:both_empty_nan", "mutant:empty_lse_is_plus_infinity"}) {
    smoke(kernel, {"junit=a.xml"});
    expect_well_formed(read("a.xml"));
    json_lines(read("out/run.jsonl"));
  }
}

TEST_F(CheckFormat, AFileThatCannotBeWrittenIsNamedAndTheSummaryIsStillThere) {
  const Finished finished = smoke("builtin:textbook", {"junit=no/such/a.xml"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(lines_of(finished.err).size(), 1U);
  EXPECT_THAT(finished.err, AllOf(StartsWith("attest: "), HasSubstr("no/such/a.xml")));
  EXPECT_TRUE(exists("out/summary.md"));
}

TEST_F(CheckFormat, APipeOrDeviceIsWrittenToAndNotReplacedByAFile) {
  const std::filesystem::path pipe = folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int end = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(end, 0);
  run({"check", "builtin:textbook", "--only", "bound.out", "--tier", "smoke", "--out", "out",
       "--format", "junit=pipe"});
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  char first[5] = {};
  EXPECT_EQ(::read(end, first, sizeof first), 5);
  EXPECT_EQ(std::string(first, sizeof first), "<?xml");
  ::close(end);
}

}  // namespace
}  // namespace attest::cli
