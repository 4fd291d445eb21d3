#include "foreign/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attest/problem_text.hpp"
#include "foreign/description_json.hpp"
#include "foreign/marshal.hpp"

namespace attest::foreign {
namespace {

using testing::HasSubstr;
using testing::Not;

Problem problem_of(const std::string& text) {
  ProblemText parsed;
  TextError error;
  EXPECT_TRUE(parse_problem_text(text, parsed, error)) << error.message;
  return parsed.problem;
}

std::string forward_line(const Problem& problem) {
  const CProblem c(problem);
  OutgoingRequest request;
  request.message = "forward";
  request.id = 7;
  request.problem = c.get();
  return request_line(request, {}, {});
}

TEST(Messages, AProblemSaysEveryFactThatFollowsFromItsText) {
  const std::string line = forward_line(problem_of(
      "2x4/2:3x{5,4}:2 bf16 mask=causal:br win=2:* cap=30 sink=head lse=log2 alibi=abs:br"));
  for (const char* const fact :
       {R"("heads_kv":2)", R"("key_lengths":[5,4])", R"("diagonal":[2,1])", R"("window_left":2)",
        R"("mask":["causal","window_left"])", R"("softcap":30.0)", R"("sink":"tensor")",
        R"("lse":"log2")", R"("dtype_q":"bf16")", R"("dtype_compute":"f32")",
        R"("all_masked":"zero")", R"("empty_lse":"-inf")", R"("alibi":"absolute")"})
    EXPECT_THAT(line, HasSubstr(fact));
  EXPECT_THAT(line, Not(HasSubstr("window_right")));
  EXPECT_THAT(line, Not(HasSubstr("chunk")));
}

TEST(Messages, ARequestIsReadAsItWasWritten) {
  std::vector<float> numbers(12);
  const attest_tensor tensor{sizeof tensor, numbers.data(), ATTEST_F32, 0,
                             {1, 2, 2, 3},  {6, 3, 6, 1}};
  attest_forward_tensors tensors{};
  tensors.q = &tensor;
  tensors.out = &tensor;
  const std::vector<WireTensor> wire = tensors_of(tensors);
  const Placement placement = place(wire, 1000).value();
  OutgoingRequest request;
  request.message = "partial";
  request.id = 3;
  request.line = "1x1:1x{1}:1 f32";
  request.lengths = {1, 7};
  request.keys = KeySpan{2, 5};
  const Result<ReceivedRequest> read =
      parse_request(request_line(request, wire, placement), placement.end);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().message, "partial");
  EXPECT_EQ(read.value().id, 3);
  EXPECT_EQ(read.value().problem_text, request.line);
  EXPECT_EQ(read.value().lengths, request.lengths);
  EXPECT_EQ(read.value().keys.end, 5);
  ASSERT_EQ(read.value().tensors.size(), 2U);
  EXPECT_EQ(read.value().tensors[1].name, "out");
  EXPECT_TRUE(read.value().tensors[1].writable);
  EXPECT_EQ(read.value().tensors[1].offset % 64, 0U);
  EXPECT_EQ(read.value().tensors[1].bytes, 48U);
  EXPECT_EQ(read.value().tensors[1].strides, (Strides{6, 3, 6, 1}));
}

TEST(Messages, FactsWithoutElementsAreThereToo) {
  const auto names = [](const std::string& text) {
    const Problem problem = problem_of(text);
    const CProblem c(problem);
    std::string found;
    for (const WireTensor& fact : facts_of(*c.get()))
      found += std::string(fact.name) + std::to_string(fact.extents[2]) + "x" +
               std::to_string(fact.extents[3]) + " ";
    return found;
  };
  EXPECT_EQ(names("1x1:2x3:1 f32"), "");
  EXPECT_EQ(names("1x1:2x3:1 f32 mask=bits:110/011"), "bits2x3 ");
  EXPECT_EQ(names("1x1:0x1:1 f32 mask=doc:/2"), "segments_q1x0 segments_k1x1 ");
}

TEST(Messages, TensorsThatDoNotFitTheirDataAreRefused) {
  const auto refusal = [](const std::string& tensor) {
    return parse_request(R"({"message":"forward","id":1,"tensors":[)" + tensor + "]}", 100)
        .status()
        .message();
  };
  const std::string form = R"("dtype":"f32","extents":[1,1,1,4],"strides":[4,4,4,1])";
  EXPECT_EQ(refusal("{\"name\":\"q\"," + form + ",\"offset\":64,\"bytes\":16}"), "");
  EXPECT_THAT(refusal("{\"name\":\"q\"," + form + ",\"offset\":96,\"bytes\":16}"),
              HasSubstr("lies at 96 with 16 bytes, in data of 100"));
  EXPECT_THAT(refusal("{\"name\":\"q\"," + form + ",\"offset\":-1,\"bytes\":16}"),
              HasSubstr("lies at -1"));
  EXPECT_THAT(refusal("{\"name\":\"q\"," + form + ",\"offset\":0,\"bytes\":20}"),
              HasSubstr("spans 16 bytes, but has 20"));
  EXPECT_THAT(refusal(R"({"name":"q","dtype":"f32","extents":[1,1,1],"offset":0,"bytes":0})"),
              HasSubstr("'extents' does not have 4 numbers"));
  EXPECT_THAT(refusal(R"({"name":"q","dtype":"f32","extents":[1,1,4611686018427387904,4],)"
                      R"("strides":[1,1,4611686018427387904,1],"offset":0,"bytes":0})"),
              HasSubstr("extents and strides that no tensor has"));
  EXPECT_THAT(refusal(R"({"name":"q","dtype":"i9","offset":0,"bytes":0})"),
              HasSubstr("unknown dtype 'i9'"));
  EXPECT_THAT(refusal("7"), HasSubstr("no JSON object"));
}

TEST(Messages, ALengthThatIsNoNumberIsRefused) {
  EXPECT_THAT(parse_request(R"({"message":"forward","problem":{"text":"","seq_kv":"7"}})", 0)
                  .status()
                  .message(),
              HasSubstr("problem: 'seq_kv' is no whole number"));
}

TEST(Messages, SharedMemoryBoundsTensorsInPlaceOfTheFrame) {
  const auto refusal = [](const std::string& more, DataBytes data) {
    return parse_reply(R"({"id":4,"status":"ok",)" + more + "}", 4, data).status().message();
  };
  const std::string tensor = R"("tensors":[{"name":"out","offset":64,"bytes":16}])";
  EXPECT_EQ(refusal("\"shared\":80," + tensor, {0, 80}), "");
  EXPECT_THAT(refusal("\"shared\":79," + tensor, {0, 80}), HasSubstr("in data of 79"));
  EXPECT_THAT(refusal("\"shared\":81," + tensor, {0, 80}),
              HasSubstr("names 81 bytes of shared memory, where 80 may be used"));
  EXPECT_THAT(refusal("\"shared\":-1," + tensor, {0, 80}), HasSubstr("names -1 bytes"));
  EXPECT_THAT(refusal("\"shared\":80," + tensor, {80, 80}), HasSubstr("beside data in the frame"));
  EXPECT_THAT(refusal(tensor, {0, 80}), HasSubstr("in data of 0"));
}

TEST(Messages, TextThatNestsWithoutEndIsRefused) {
  const std::string deep(100000, '[');
  EXPECT_THAT(parse_request("{\"a\":" + deep, 0).status().message(), HasSubstr("no JSON object"));
}

TEST(Messages, AReplyHasTheIdAndAKnownStatus) {
  EXPECT_TRUE(parse_reply(R"({"id":4,"status":"ok"})", 4, {}).ok());
  EXPECT_THAT(parse_reply(R"({"id":4,"status":"ok"})", 5, {}).status().message(),
              HasSubstr("answers request 4, but was asked 5"));
  EXPECT_THAT(parse_reply(R"({"id":4,"status":"fine"})", 4, {}).status().message(),
              HasSubstr("unknown status 'fine'"));
  EXPECT_THAT(parse_reply(R"({"id":4})", 4, {}).status().message(), HasSubstr("unknown status ''"));
}

TEST(Messages, AStatusComesBackAsItWasSent) {
  for (const StatusCode code : {StatusCode::ok, StatusCode::unsupported, StatusCode::kernel_failed,
                                StatusCode::broken_contract}) {
    Reply reply = reply_of(Status{code, "because"});
    reply.id = 2;
    const Status back = status_of(parse_reply(reply_line(reply), 2, {}).value());
    EXPECT_EQ(back.code(), code);
    EXPECT_EQ(back.message(), code == StatusCode::ok ? "" : "because");
  }
  const Status masked = status_of(reply_of(all_masked_row({1, 2, 3})));
  EXPECT_EQ(masked.code(), StatusCode::all_masked_row);
  EXPECT_EQ(masked.row(), (RowIndex{1, 2, 3}));
}

TEST(Descriptions, ComeBackAsTheyWere) {
  attest_accuracy accuracy{};
  accuracy.size = sizeof accuracy;
  accuracy.weights = ATTEST_BF16;
  accuracy.scope = ATTEST_SCOPE_TILE;
  accuracy.exp_ulp = 2.5;
  accuracy.dot_roundings = 9;
  attest_description description{};
  description.size = sizeof description;
  std::snprintf(description.name, sizeof description.name, "mine");
  description.dtypes = ATTEST_BIT(ATTEST_F32) | ATTEST_BIT(ATTEST_E5M2);
  description.features = ATTEST_HAS_WINDOW | ATTEST_HAS_PARALLEL_CALLS | ATTEST_HAS_CAUSAL;
  description.lse_base = ATTEST_BASE_TWO;
  description.tile_kv = 64;
  description.accuracy = &accuracy;
  const Result<Description> read =
      parse_description(description_text(description, {true, false, true}));
  ASSERT_TRUE(read.ok()) << read.status().message();
  const attest_description& says = read.value().says;
  EXPECT_STREQ(says.name, "mine");
  EXPECT_EQ(says.dtypes, description.dtypes);
  EXPECT_EQ(says.features, description.features);
  EXPECT_EQ(says.lse_base, ATTEST_BASE_TWO);
  EXPECT_EQ(says.tile_kv, 64);
  EXPECT_TRUE(read.value().calls.partial && read.value().calls.accuracy);
  EXPECT_FALSE(read.value().calls.merge);
  EXPECT_EQ(read.value().accuracy.weights, ATTEST_BF16);
  EXPECT_EQ(read.value().accuracy.scope, ATTEST_SCOPE_TILE);
  EXPECT_EQ(read.value().accuracy.exp_ulp, 2.5);
  EXPECT_EQ(read.value().accuracy.dot_roundings, 9);
}

TEST(Descriptions, AreRefusedWithWhatIsWrong) {
  const auto refusal = [](const std::string& text) {
    return parse_description(text).status().message();
  };
  EXPECT_EQ(refusal(R"({"name":"a","dtypes":["f32"],"later":[1]})"), "");
  EXPECT_THAT(refusal(R"({"dtypes":["f32"]})"), HasSubstr("'name' is missing"));
  EXPECT_THAT(refusal(R"({"name":"a"})"), HasSubstr("'dtypes' names no type"));
  EXPECT_THAT(refusal(R"({"name":"a","dtypes":["f33"]})"), HasSubstr("unknown word 'f33'"));
  EXPECT_THAT(refusal(R"({"name":"a","dtypes":"f32"})"), HasSubstr("'dtypes' is no list"));
  EXPECT_THAT(refusal(R"({"name":3,"dtypes":["f32"]})"), HasSubstr("'name' is no text"));
  EXPECT_THAT(refusal(R"({"name":"a","dtypes":["f32"],"leaf":1e9})"),
              HasSubstr("'leaf' is no whole number"));
  EXPECT_THAT(refusal(R"({"name":"a","dtypes":["f32"],"accuracy":{"weights_log2":5000000000}})"),
              HasSubstr("'weights_log2' is too large"));
  EXPECT_THAT(refusal("{\"name\":\"" + std::string(64, 'a') + "\",\"dtypes\":[\"f32\"]}"),
              HasSubstr("more than 63 characters"));
}

}  // namespace
}  // namespace attest::foreign
