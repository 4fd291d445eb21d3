// attest check with bad input: exit code 2 and one clear message that names the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"
#include "kernels/registry.hpp"

namespace attest::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kTree = "builtin:scalar_tree";
const std::string kTensor = "uselite-buffalo-layer00-head01.safetensors";

class CheckInput : public ProgramTest {
 protected:
  void expect_check_refused(const Words& options, const Words& parts) const {
    Words arguments{"check", kTree};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_refused(arguments, parts);
    EXPECT_FALSE(exists("attest-out")) << "a refused run leaves nothing behind";
  }

  /// The message and a caret below `word` of the problem.
  void expect_problem_refused(const std::string& problem, const std::string& word,
                              const std::string& message) const {
    const Finished finished = run({"check", kTree, problem});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, StartsWith("attest: "));
    EXPECT_THAT(finished.err, HasSubstr(message));
    expect_caret_below(finished, problem, word);
  }
};

TEST_F(CheckInput, AnUnknownKernelIsRefusedWithTheNamesOfTheKnown) {
  Words parts{"unknown kernel 'builtin:nope'"};
  for (const auto& kernel : kernels::builtin_kernels()) parts.push_back(kernel->description().name);
  expect_refused({"check", "builtin:nope"}, parts);
  expect_refused({"check", "scalar_tree"}, {"unknown kernel 'scalar_tree'"});
  expect_refused({"check", "mutant:nope"}, {"unknown kernel 'mutant:nope'", "list mutants"});
}

TEST_F(CheckInput, AnUnknownLawIsRefused) {
  expect_check_refused({"--only", "bound.nope"}, {"bound.nope", "list laws"});
  expect_check_refused({"--skip", "bound.out,nope*"}, {"nope*", "list laws"});
  expect_check_refused({"--only", "bound.out", "--skip", "bound.*"}, {"--only", "--skip"});
}

TEST_F(CheckInput, ABadProblemIsRefusedWithACaretBelowThePlace) {
  expect_problem_refused("1x1:1y2:1 f32", "y", "expected 'x'");
  expect_problem_refused("1x1:1x2:1 f99", "f99", "dtype");
  expect_problem_refused("1x1:1x2:1 f32 frob=1", "frob", "unknown key 'frob'");
  expect_problem_refused("1x1:1x2:1 f32 tile=0", "0", "tiles");
  expect_problem_refused("1x1:1x2:1 f32 vals=lit:1;2,x;3,4", "x;", "number");
  expect_problem_refused("1x1:1x2:1 f32 lse=ln law=bound.nope", "law=bound.nope", "bound.nope");
  expect_problem_refused("1x1:1x2:1 f32 vals=bogus:1 lse=ln", "vals=bogus:1", "family 'bogus'");
  expect_problem_refused("1x1:1x2:1 f32 vals=real:nope:1", "vals=real:nope:1", "named 'nope'");
}

TEST_F(CheckInput, ABadNumberOrNameOfAnOptionIsRefused) {
  expect_check_refused({"--seed", "x"}, {"--seed", "'x'"});
  expect_check_refused({"--seed", "-1"}, {"--seed", "'-1'"});
  expect_check_refused({"--seed", "0x10000000000000000"}, {"--seed", "2^64"});
  expect_check_refused({"--tier", "x"}, {"tier 'x'", "smoke, ci, nightly"});
  expect_check_refused({"--format", "x"},
                       {"format 'x'", "text, md, accuracy, json, jsonl, junit, sarif, csv, html"});
  expect_check_refused({"--format", "junit="}, {"junit=", "file name"});
}

TEST_F(CheckInput, ANegativeNumberIsRefusedAndNotTakenAsTheDefault) {
  for (const std::string option : {"--cases", "--time", "--shrink-time", "--jobs"})
    expect_check_refused({option, "-5", "--tier", "smoke", "--only", "bound.out"}, {option, "-5"});
}

TEST_F(CheckInput, ABadLineOfAProblemFileIsNamedByFileAndLine) {
  const std::string problem = "1x1:1z1:1 f32";
  write("lines", "# a comment\n1x1:1x1:1 f32\n\n" + problem + "\n");
  const Finished finished = run({"check", kTree, "-f", "lines"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, StartsWith("attest: lines:4:"));
  expect_caret_below(finished, problem, "z");
}

TEST_F(CheckInput, AProblemFileThatIsMissingOrEmptyIsNamed) {
  expect_check_refused({"-f", "missing"}, {"missing"});
  write("blank", "# nothing\n\n");
  expect_check_refused({"-f", "blank"}, {"blank"});
}

TEST_F(CheckInput, AFolderWithoutTensorsIsNamed) {
  expect_check_refused({"--tensors", "missing"}, {"missing"});
  std::filesystem::create_directory(folder() / "empty");
  expect_check_refused({"--tensors", "empty"}, {"empty", "safetensors"});
}

TEST_F(CheckInput, ATruncatedTensorFileIsNamedWithTheByte) {
  const std::string whole = ProgramTest::read(std::filesystem::path(ATTEST_REAL_TENSORS) / kTensor);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write("cut/a.safetensors", whole.substr(0, size));
    expect_check_refused({"--tensors", "cut"}, {"cut/a.safetensors: byte "});
  }
}

TEST_F(CheckInput, ATensorFileWhoseHeaderLiesIsNamedWithTheByte) {
  const auto file = [](const std::string& header, const std::string& data) {
    return std::string{static_cast<char>(header.size())} + std::string(7, '\0') + header + data;
  };
  for (const std::string& lie :
       {std::string(7, '\xFF') + "\x7F{}",  // 2^63 - 1 bytes of header
        file(R"({"q":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "1234"),
        file(R"({"q":{"dtype":"F32","shape":[4],"data_offsets":[0,8]}})", "12345678"),
        file(R"({"q":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})", "12345678")}) {
    write("lie/b.safetensors", lie);
    expect_check_refused({"--tensors", "lie"}, {"lie/b.safetensors: byte "});
  }
}

TEST_F(CheckInput, AFolderThatCannotBeCreatedIsNamed) {
  write("file", "");
  expect_check_refused({"--tier", "smoke", "--out", "file"}, {"file"});
  expect_check_refused({"--tier", "smoke", "--out", "file/below"}, {"file/below"});
  expect_check_refused({"--tier", "smoke", "--out", "/dev/full"}, {"/dev/full"});
}

}  // namespace
}  // namespace attest::cli
