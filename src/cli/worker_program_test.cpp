// A worker and the messages that it is sent.
#include <gtest/gtest.h>

#include <string>

#include "foreign/child_process.hpp"
#include "foreign/messages.hpp"

namespace attest::cli {
namespace {

/// What a worker answers to a problem of these lengths; its tensors are not sent, since a kernel
/// says what it states for a problem without them.
std::string reason(const std::string& problem, const std::string& lengths) {
  auto child = foreign::ChildProcess::start({ATTEST_PROGRAM, "worker", ATTEST_MISBEHAVING_PLUGIN});
  if (!child.ok()) return child.status().message();
  const std::string line =
      R"({"message":"accuracy","id":1,"problem":{"text":")" + problem + "\"" + lengths + "}}";
  const foreign::FrameLimits limits{1 << 20, 0};
  foreign::Frame answer;
  foreign::Ending ending;
  if (!child.value()->exchange({line, {}}, limits, std::chrono::seconds(30), answer, ending))
    return foreign::to_text(ending, std::chrono::seconds(30));
  const Result<foreign::Reply> reply = foreign::parse_reply(answer.line, 1, {});
  return reply.ok() ? reply.value().status + ": " + reply.value().reason : reply.status().message();
}

TEST(WorkerProgram, LengthsThatDoNotFitAProblemAreRefusedInOneLine) {
  const std::string ragged = "2x1:{1,2}x{3,4}:2 f32";
  const std::string refused = "failed: a worker cannot read the problem: ";
  EXPECT_EQ(reason(ragged, R"(,"seq_q":2,"seq_kv":4)"), "ok: ");
  EXPECT_EQ(reason(ragged, R"(,"seq_q":9,"seq_kv":7)"), "ok: ");
  EXPECT_EQ(reason(ragged, R"(,"seq_q":2,"seq_kv":3)"), refused + "key length 4 is outside [0, 3]");
  EXPECT_EQ(reason(ragged, R"(,"seq_q":-1,"seq_kv":4)"),
            refused + "batch and lengths must not be negative");
  EXPECT_EQ(reason(ragged, R"(,"seq_q":2,"seq_kv":9223372036854775807)"),
            refused + "a tensor of this problem has more than 2^56 elements");
  EXPECT_EQ(reason("2x1:2x4:2 f32", R"(,"seq_q":2,"seq_kv":5)"),
            refused + "the tensors have 5 keys, every batch member 4");
  EXPECT_EQ(reason(ragged, ""), refused + "query length 1 is outside [0, 0]");
}

}  // namespace
}  // namespace attest::cli
