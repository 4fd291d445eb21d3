// Dumps as a user has them: right ones pass, wrong ones say where and how, damaged ones are one
// line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "cli/test_dump.hpp"
#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"

namespace attest::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kProblem = "2x4/2:9x20:8 bf16 mask=causal:br lse=ln";

class Verify : public ProgramTest {
 protected:
  void write_dump(const std::string& name, const tensors::SafetensorsFile& file) const {
    const Status status = tensors::write_safetensors(folder() / name, file);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void write_dump(const CallToDump& call, const std::string& problem = kProblem) const {
    write_dump("dump.safetensors", safetensors_of(call, problem));
  }
  Finished verify(const Words& more = {}) const {
    Words words{"verify", "dump.safetensors"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

/// The cells of a row of the table.
Words row_of(const std::string& out, const std::string& tensor) {
  return shell_words(tensor + " " + labelled(out, tensor));
}

TEST_F(Verify, ARightDumpPasses) {
  write_dump(CallToDump(kProblem, "builtin:scalar_tree"));
  const Finished finished = verify();
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out,
              StartsWith("problem  2x4/2:9x20:8 bf16 mask=causal:br lse=ln  "
                         "(metadata of dump.safetensors)\nassumes  f32 accumulators"));
  EXPECT_THAT(finished.out, HasSubstr("P in bf16"));
  const Words out = row_of(finished.out, "out");
  ASSERT_GE(out.size(), 5U);
  EXPECT_EQ(out[1], "ok");
  EXPECT_EQ(out[2], "72") << "all rows";
  EXPECT_EQ(out[3], "0");
  EXPECT_EQ(out[4], "576");
  EXPECT_EQ(row_of(finished.out, "lse")[1], "ok");
  EXPECT_EQ(last_line(finished.out), "PASSED  2 of 2 tensors right");
}

/// Whatever order the kernel worked in, the declarations that are assumed cover it.
TEST_F(Verify, RightDumpsOfManyKernelsAndTypesPass) {
  const auto passes = [&](const char* kernel, const std::string& shape, const char* work) {
    write_dump(CallToDump(shape + " lse=ln " + work, kernel), shape + " lse=ln");
    const Finished finished = verify();
    EXPECT_EQ(finished.exit_code, 0) << kernel << "\n" << finished.out << finished.err;
  };
  for (const char* const work :
       {"tile=1 vals=normal:3", "split=5", "tile=4 split=7 merge=random:3"}) {
    for (const char* const kernel :
         {"builtin:textbook", "builtin:scalar_tree", "builtin:flash_exp2", "builtin:flash_lazy",
          "builtin:flash_reciprocal", "builtin:eigen_materialised"})
      passes(kernel, "1x2:6x40:8 f32", work);
    for (const char* const dtype : {"f16", "bf16", "f64"})
      passes("builtin:scalar_sequential", std::string("1x2:6x40:8 ") + dtype, work);
  }
}

TEST_F(Verify, AZeroedRowIsNamed) {
  CallToDump call(kProblem, "builtin:scalar_tree");
  for (Index c = 0; c < 8; ++c) call.out().set(1, 2, 5, c, 0);
  write_dump(call);
  const Finished finished = verify();
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  EXPECT_EQ(row_of(finished.out, "out")[1], "fail");
  EXPECT_EQ(row_of(finished.out, "lse")[1], "ok");
  EXPECT_THAT(finished.out, HasSubstr("FAIL bound.out"));
  EXPECT_THAT(finished.out, HasSubstr("element   out[1,2,5,"));
  EXPECT_THAT(finished.out, HasSubstr("spread    1 of 72 rows wrong"));
  EXPECT_EQ(last_line(finished.out), "FAILED  1 of 2 tensors right, 1 wrong");
}

TEST_F(Verify, AMaskThatIsOffByOneIsDiagnosed) {
  CallToDump call("2x4/2:9x20:8 bf16 mask=causal:off=12 lse=ln", "builtin:scalar_tree");
  write_dump(call);
  const Finished finished = verify();
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("FAIL bound.out"));
  EXPECT_THAT(finished.out, HasSubstr("acts like"));
  EXPECT_THAT(finished.out, HasSubstr("mask=causal:off=12"));
}

TEST_F(Verify, AnLseOfAnotherBaseIsDiagnosed) {
  CallToDump call("2x4/2:9x20:8 bf16 mask=causal:br lse=log2", "builtin:scalar_tree");
  write_dump(call);
  const Finished finished = verify();
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  EXPECT_EQ(row_of(finished.out, "out")[1], "ok");
  EXPECT_THAT(finished.out, HasSubstr("FAIL bound.lse"));
  EXPECT_THAT(finished.out, HasSubstr("acts like lse in base two"));
  write_dump(call, "2x4/2:9x20:8 bf16 mask=causal:br lse=log2");
  EXPECT_EQ(verify().exit_code, 0) << "as it should be read";
}

/// The report of a run of laws, with the dump in the place of the kernel.
TEST_F(Verify, ARunIsKeptInTheFormsOfACheck) {
  write_dump(CallToDump("2x4/2:9x20:8 bf16 mask=causal:off=12 lse=ln", "builtin:scalar_tree"));
  const Finished finished = verify({"--out", "run", "--format", "junit=j.xml", "--format", "text"});
  EXPECT_EQ(finished.exit_code, 1) << finished.out << finished.err;
  EXPECT_THAT(last_line(finished.out), StartsWith("FAILED  0 of 2 tensors right"));
  const std::vector<Json> lines = json_lines(read("run/run.jsonl"));
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines.front()["type"], "environment");
  EXPECT_EQ(lines.front()["kernels"][0]["name"], "dump:dump.safetensors");
  EXPECT_THAT(lines.front()["kernels"][0]["declares"].get<std::string>(), HasSubstr("P in bf16"));
  EXPECT_EQ(lines.back()["type"], "summary");
  EXPECT_EQ(lines.back()["outcome"], "violated");
  std::map<std::string, int> types;
  for (const Json& line : lines) {
    ++types[line["type"]];
    if (line["type"] != "case") continue;
    EXPECT_EQ(line["outcome"], "fail");
    EXPECT_EQ(line["problem"], kProblem);
    EXPECT_THAT(line["replay"].get<std::string>(), StartsWith("attest verify dump.safetensors"));
  }
  EXPECT_EQ(types["case"], 2);
  EXPECT_EQ(types["violation"], 2);
  EXPECT_EQ(types["statistics"], 1) << "of out";
  EXPECT_EQ(types["check"], 1);
  // What was saved is a case, and another kernel passes it.
  const std::string saved = labelled(finished.out, "  saved");
  EXPECT_THAT(saved, StartsWith("run/cases/"));
  EXPECT_EQ(run({"replay", "builtin:scalar_tree", saved}).exit_code, 0);
  EXPECT_THAT(read("run/report.html"), HasSubstr("dump:dump.safetensors"));
  EXPECT_THAT(read("run/summary.md"), HasSubstr("bound.lse"));
  EXPECT_THAT(read("j.xml"), HasSubstr("tests=\"2\" failures=\"2\""));
  const Finished again = run({"report", "run", "--format", "junit"});
  EXPECT_EQ(again.out, read("j.xml")) << again.err;
}

TEST_F(Verify, ARightRunAndAnUndecidedOneSayWhatTheExitCodeSays) {
  write_dump(CallToDump(kProblem, "builtin:scalar_tree"));
  const Finished right = verify({"--format", "jsonl"});
  EXPECT_EQ(right.exit_code, 0) << right.err;
  const std::vector<Json> lines = json_lines(right.out);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back()["outcome"], "passed");
  EXPECT_EQ(lines.back()["violations"], 0);
  EXPECT_TRUE(exists("attest-out/latest/run.jsonl"));

  // Nothing can be said of a row that sees a NaN.
  write_dump(CallToDump("1x1:1x2:1 f32 vals=lit:0;0,0;0,nan", "builtin:textbook"), "1x1:1x2:1 f32");
  const Finished open = verify({"--out", "open"});
  EXPECT_EQ(open.exit_code, 3) << open.out;
  EXPECT_EQ(json_lines(read("open/run.jsonl")).back()["outcome"], "undecided");
}

TEST_F(Verify, NothingIsWrittenUnlessItIsAskedFor) {
  write_dump(CallToDump(kProblem, "builtin:scalar_tree"));
  EXPECT_EQ(verify().exit_code, 0);
  EXPECT_FALSE(exists("attest-out"));
  expect_refused({"verify", "dump.safetensors", "--format", "pdf"}, {"unknown format 'pdf'"});
  write("file", "");
  expect_refused({"verify", "dump.safetensors", "--out", "file/below"}, {"file/below"});
}

TEST_F(Verify, GradientsAreChecked) {
  const std::string problem = "1x2/1:5x7:4 f32 mask=causal:br lse=ln bwd=dq,dk,dv,dlse";
  CallToDump call(problem, "builtin:textbook");
  write_dump(call, problem);
  const Finished right = verify();
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  for (const char* const name : {"out", "lse", "dq", "dk", "dv"})
    EXPECT_EQ(row_of(right.out, name)[1], "ok") << name << "\n" << right.out;

  for (Index c = 0; c < 4; ++c)
    call.outputs.dk.set(0, 0, 2, c, 2 * call.outputs.dk.get(0, 0, 2, c));
  write_dump(call, problem);
  const Finished wrong = verify();
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_EQ(row_of(wrong.out, "dk")[1], "fail");
  EXPECT_EQ(row_of(wrong.out, "dv")[1], "ok");
  EXPECT_THAT(wrong.out, HasSubstr("element   dk[0,0,2,"));

  // Without the results of the forward pass.
  tensors::SafetensorsFile file = safetensors_of(call, problem);
  std::erase_if(file.entries, [](const tensors::Entry& entry) {
    return entry.name == "out" || entry.name == "lse" || entry.name == "dk";
  });
  write_dump("dump.safetensors", file);
  const Finished alone = verify();
  EXPECT_EQ(alone.exit_code, 0) << alone.out << alone.err;
  EXPECT_EQ(last_line(alone.out), "PASSED  2 of 2 tensors right");
}

TEST_F(Verify, AFolderOfNpyFilesInAnotherLayout) {
  const CallToDump call("2x4/2:9x20:8 bf16 lse=ln", "builtin:scalar_tree");
  for (const auto& [name, tensor] : call.tensors())
    write("dump/" + name + ".npy", npy_of(name, tensor, Layout::Order::bhsd));
  write("dump/problem.txt", "# layer 3\n2x4/2:9x20:8 bf16 lse=ln layout=bhsd  # as torch has it\n");
  const Finished finished = run({"verify", "dump"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("layout=bhsd  (dump/problem.txt)"));

  // The same files one by one, and a flag that decides.
  Words words{"verify", "--problem", "2x4/2:9x20:8 bf16 layout=bhsd lse=ln"};
  for (const char* const name : {"q", "k", "v", "out", "lse"})
    words.push_back("dump/" + std::string(name) + ".npy");
  EXPECT_EQ(run(words).exit_code, 0);
  words[2] = "2x4/2:9x20:8 bf16 lse=ln";
  EXPECT_EQ(run(words).exit_code, 2) << "the shapes are not those of bshd";
}

TEST_F(Verify, EveryTypeAndOtherParts) {
  for (const char* const problem :
       {"1x2:4x6:8 f64 lse=ln bias=2d", "1x2:4x6:8 f16 lse=max_sum",
        "1x2:4x6:8 e4m3 lse=ln descale=2;1;0.5", "1x2:4x6:8 f32 bias=h2d sink=head lse=ln",
        "2x2:{4,2}x{6,3}:8 f32 lse=ln layout=thd", "2x2:4x{6,3}:8 f32 kv=leftpad lse=ln",
        "1x2:4x6:8/4 bf16 v=view(k) lse=ln", "2x2:4x6:8 f32 kv=paged:4 lse=ln",
        "1x2:4x6:8 bf16 qv=yes cap=30 out=f32", "3x2:4x6:8 f32 layout=sbhd lse=ln"}) {
    write_dump(CallToDump(problem, "builtin:textbook"), problem);
    const Finished finished = verify({"--p", "f32"});
    EXPECT_EQ(finished.exit_code, 0) << problem << "\n" << finished.out << finished.err;
  }
}

TEST_F(Verify, NumbersOfAWiderTypeAreTakenIfTheyFit) {
  CallToDump call("2x4/2:9x20:8 bf16 mask=causal:br", "builtin:scalar_tree");
  tensors::SafetensorsFile file = safetensors_of(call, "2x4/2:9x20:8 bf16 mask=causal:br");
  for (tensors::Entry& entry : file.entries) {
    std::vector<std::byte> wide;
    for (std::size_t at = 0; at < entry.bytes.size(); at += 2) {
      wide.insert(wide.end(), 2, std::byte{0});
      wide.insert(wide.end(), &entry.bytes[at], &entry.bytes[at] + 2);
    }
    entry.bytes = std::move(wide);
    entry.dtype = Dtype::f32;
  }
  write_dump("dump.safetensors", file);
  EXPECT_EQ(verify().exit_code, 0) << verify().out << verify().err;
  file.entries.back().bytes[0] = std::byte{1};
  write_dump("dump.safetensors", file);
  expect_refused({"verify", "dump.safetensors"}, {"'out'", "is f32", "is no number of bf16"});
}

TEST_F(Verify, SomeRowsOfALargeDump) {
  write_dump(CallToDump(kProblem, "builtin:scalar_tree"));
  const Finished finished = verify({"--rows", "10", "-j", "2"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  EXPECT_EQ(row_of(finished.out, "out")[2], "10");
  EXPECT_EQ(last_line(finished.out), "PASSED  2 of 2 tensors right; 10 of 72 rows were judged");
  EXPECT_EQ(verify({"-j", "1"}).out, verify({"-j", "3"}).out);
}

TEST_F(Verify, WhatIsDeclaredDecides) {
  // P rounded to bf16 is no error of a kernel that says so, and one of a kernel that keeps f32.
  const CallToDump call("1x1:8x64:16 f32", "builtin:flash_bf16p");
  write_dump(call, "1x1:8x64:16 f32");
  EXPECT_EQ(verify().exit_code, 1) << verify().out;
  EXPECT_EQ(verify({"--p", "bf16"}).exit_code, 0) << verify({"--p", "bf16"}).out;
  expect_refused({"verify", "dump.safetensors", "--p", "int4"}, {"--p takes a dtype", "'int4'"});
  expect_refused({"verify", "dump.safetensors", "--acc", "e4m3"}, {"--acc takes"});
}

TEST_F(Verify, AViolationIsSavedAsACaseForAnyKernel) {
  CallToDump call(kProblem, "builtin:scalar_tree");
  call.out().set(0, 0, 0, 0, 100);
  write_dump(call);
  const Finished finished = verify({"--save", "cases"});
  EXPECT_EQ(finished.exit_code, 1);
  const std::string saved = labelled(finished.out, "  saved");
  ASSERT_TRUE(exists(saved + "/case.json")) << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("attest replay KERNEL '" + saved + "'"));
  const Finished replayed = run({"replay", "builtin:scalar_tree", saved});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
}

TEST_F(Verify, WithoutAProblemTextItAsksAndSuggestsOne) {
  write_dump(CallToDump(kProblem, "builtin:scalar_tree"), "");
  expect_refused({"verify", "dump.safetensors"}, {"dump.safetensors has no problem text",
                                                  "--problem", "'2x4/2:9x20:8 bf16 lse=ln'"});
  write("dump.txt", std::string(kProblem) + "\n");
  EXPECT_EQ(verify().exit_code, 0) << "a side file";
}

TEST_F(Verify, ContradictionsAreOneLine) {
  const CallToDump call(kProblem, "builtin:scalar_tree");
  write_dump(call);
  const auto refused = [&](const std::string& problem, const Words& parts) {
    expect_refused({"verify", "dump.safetensors", "--problem", problem}, parts);
  };
  refused("2x4/2:9x20:8 bf16 mask=causal:br", {"the dump has 'lse'; say lse=ln"});
  refused("2x4/2:9x21:8 bf16 lse=ln", {"tensor 'k' has shape [2, 20, 2, 8]", "[2, 21, 2, 8]"});
  refused("2x4/2:9x20:8 bf16 lse=ln bias=2d", {"asks for 'bias', the dump has none"});
  refused("2x4/2:9x20:8 bf16 lse=ln bwd=dq,dk,dv", {"asks for 'dout', the dump has none"});
  refused("2x4/2:9x20:8 bf16 lse=ln layout=bshd:pad=2", {"leave pad= and col= out"});
  const Finished text = verify({"--problem", "2x4/2:9x20:8 bf17"});
  EXPECT_EQ(text.exit_code, 2);
  EXPECT_THAT(text.err, HasSubstr("cannot use the problem of --problem:\n2x4/2:9x20:8 bf17\n"));

  tensors::SafetensorsFile file = safetensors_of(call, kProblem);
  file.entries.back().name = "scores";
  write_dump("dump.safetensors", file);
  expect_refused({"verify", "dump.safetensors"}, {"tensor 'scores' has no known meaning"});
  file.entries.resize(3);
  write_dump("dump.safetensors", file);
  expect_refused({"verify", "dump.safetensors"}, {"nothing to check"});
  file.entries.resize(2);
  write_dump("dump.safetensors", file);
  expect_refused({"verify", "dump.safetensors"}, {"asks for 'v', the dump has none"});
}

TEST_F(Verify, DamagedFilesAreOneLine) {
  const CallToDump call(kProblem, "builtin:scalar_tree");
  const std::string q = npy_of("q", call.value.q, Layout::Order::bshd);
  write("q.npy", q);
  const Words words{"verify", "q.npy", "--problem", kProblem};
  expect_refused(words, {"asks for 'k', the dump has none"});
  write("q.npy", q.substr(0, q.size() - 1));
  expect_refused(words, {"q.npy: byte ", "takes 1152 bytes, the file has 1151"});
  write("q.npy", q.substr(0, 40));
  expect_refused(words, {"q.npy: byte ", "goes beyond the file's end"});
  write("q.npy", std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12) + "{");
  expect_refused(words, {"header length 4294967295 goes beyond"});
  write("q.npy", tensors::npy_text(tensors::npy_dict("<i8", "(1,)"), "12345678"));
  expect_refused(words, {"'<i8' are not supported"});
  write("q.npy", "");
  expect_refused(words, {"q.npy: byte 0: the file ends"});
  write("dump.safetensors", std::string("\xff\xff\xff\xff\0\0\0\0", 8) + "{}");
  expect_refused({"verify", "dump.safetensors"}, {"dump.safetensors: byte 0: header length"});
  expect_refused({"verify", "nothing.npy"}, {"nothing.npy: No such file"});
  expect_refused({"verify", "nothing"}, {"is neither a folder nor"});
  write("empty/readme", "");
  expect_refused({"verify", "empty"}, {"the folder has no *.npy or *.safetensors file"});
}

}  // namespace
}  // namespace attest::cli
