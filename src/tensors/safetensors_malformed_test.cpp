// What malformed files give: one line that names the file, the byte offset and the trouble.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <random>
#include <string>

#include "tensors/safetensors.hpp"
#include "tensors/test_folder.hpp"

namespace attest::tensors {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(length >> (8 * i) & 0xff);
  return text + std::string(rest);
}

std::string file_text(std::string_view header, std::string_view data) {
  return with_length(header.size(), std::string(header) + std::string(data));
}

Result<SafetensorsFile> parse(std::string_view text) {
  return parse_safetensors(std::as_bytes(std::span(text)), "folder/bad.safetensors");
}

/// Expects an error at `offset` whose text contains `what`.
void expect_error(std::string_view text, Index offset, std::string_view what) {
  const Result<SafetensorsFile> parsed = parse(text);
  ASSERT_FALSE(parsed.ok()) << what;
  EXPECT_EQ(parsed.status().code(), StatusCode::io_error);
  const std::string message = parsed.status().message();
  EXPECT_THAT(message, StartsWith("folder/bad.safetensors: byte " + std::to_string(offset) + ": "));
  EXPECT_THAT(message, HasSubstr(std::string(what)));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  EXPECT_LT(message.size(), 500U);
}

/// Expects an error at the first occurrence of `marker`, with 8 bytes of data behind the header.
void expect_header_error(std::string_view header, std::string_view marker, std::string_view what) {
  const std::size_t at = header.find(marker);
  ASSERT_NE(at, std::string_view::npos) << marker;
  expect_error(file_text(header, "12345678"), 8 + static_cast<Index>(at), what);
}

constexpr std::string_view kSmall =
    R"({"__metadata__":{"scale":"0.5"},"q":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
    R"("k":{"dtype":"F64","shape":[1,1],"data_offsets":[8,16]}})";

TEST(MalformedSafetensors, TooShortForTheLength) {
  expect_error("", 0, "ends inside the 8 bytes of the header length");
  expect_error("1234567", 7, "ends inside the 8 bytes of the header length");
}

TEST(MalformedSafetensors, LengthBeyondTheFile) {
  expect_error(with_length(4, "{} "), 0, "header length 4 goes beyond the file's end: 3 bytes");
  expect_error(with_length(std::uint64_t{1} << 32, "{}"), 0, "header length 4294967296 goes");
  expect_error(with_length(std::uint64_t{1} << 63, "{}"), 0, "header length 9223372036854775808");
  expect_error(with_length(~std::uint64_t{0}, "{}"), 0, "header length 18446744073709551615");
}

TEST(MalformedSafetensors, NotAJsonObject) {
  expect_error(file_text("", ""), 8, "not an object");
  expect_error(file_text("[1]", ""), 8, "not an object");
  expect_error(file_text(" {}", ""), 8, "not an object");
  expect_error(file_text("{", ""), 9, "not JSON: syntax error");
  expect_error(file_text("{} x", ""), 11, "not JSON: syntax error");
  expect_error(file_text(R"({"q":nope})", ""), 14, "not JSON: syntax error");
  expect_error(file_text("{\"q\x01\":1}", ""), 11, "not JSON: syntax error");
  expect_error(file_text("{\"\xff\":1}", ""), 10, "not JSON: syntax error");
  expect_error(file_text(R"({"q":1e999})", ""), 17, "not JSON: number overflow");
  expect_error(file_text(std::string_view("{}\0trash", 8), ""), 10, "NUL byte");
}

TEST(MalformedSafetensors, DeepNestingIsRefusedAtOnce) {
  const std::string deep(1'000'000, '[');
  expect_error(file_text("{\"q\":" + deep, ""), 13, "tensor 'q' must be an object, not an array");
  expect_error(file_text(R"({"q":{"shape":)" + deep, ""), 23, "must hold integers");
  std::string objects = "{";
  for (int i = 0; i < 100'000; ++i) objects += R"("dtype":{)";
  expect_error(file_text(objects, ""), 26, "dtype must be a string, not an object");
}

TEST(MalformedSafetensors, LongNamesAreCutInMessages) {
  expect_error(file_text("{\"" + std::string(1'000'000, 'n') + "\":1}", ""), 1'000'012, "nnn...'");
}

TEST(MalformedSafetensors, DuplicateAndUnknownKeys) {
  expect_header_error(R"({"q":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"q" :1})", "\"q\" ",
                      "duplicate key 'q'");
  expect_header_error(R"({"__metadata__":{},"__metadata__" :{}})", "\"__metadata__\" ",
                      "duplicate key '__metadata__'");
  expect_header_error(R"({"__metadata__":{"a":"","a" :""}})", "\"a\" ", "duplicate key 'a'");
  expect_header_error(R"({"q":{"dtype":"F64","dtype" :"F64"}})", "\"dtype\" ",
                      "duplicate key 'dtype'");
  expect_header_error(R"({"q":{"shape":[1],"shape" :[1]}})", "\"shape\" ", "duplicate key");
  expect_header_error(R"({"q":{"data_offsets":[0,1],"data_offsets" :[]}})", "\"data_offsets\" ",
                      "duplicate key");
  expect_header_error(R"({"q":{"strides":[1]}})", "\"strides\"",
                      "tensor 'q': unknown key 'strides'");
}

TEST(MalformedSafetensors, MissingFields) {
  expect_header_error(R"({"q":{"shape":[1],"data_offsets":[0,8]}})", "\"q\"", "'q': no dtype");
  expect_header_error(R"({"q":{"dtype":"F64","data_offsets":[0,8]}})", "\"q\"", "'q': no shape");
  expect_header_error(R"({"q":{"dtype":"F64","shape":[1]}})", "\"q\"", "'q': no data_offsets");
  expect_header_error(R"({ "q":{}})", "\"q\"", "'q': no dtype");
}

TEST(MalformedSafetensors, WrongTypes) {
  expect_header_error(R"({"q": 7})", "7", "tensor 'q' must be an object, not the number 7");
  expect_header_error(R"({"__metadata__":"x"})", "\"x\"", "__metadata__ must be an object");
  expect_header_error(R"({"__metadata__":{"a":null}})", "null", "'a' must be a string, not null");
  expect_header_error(R"({"__metadata__":{"a":{}}})", "{}", "'a' must be a string, not an object");
  expect_header_error(R"({"q":{"dtype":true}})", "true", "dtype must be a string, not a boolean");
  expect_header_error(R"({"q":{"dtype":[]}})", "[]", "dtype must be a string, not an array");
  expect_header_error(R"({"q":{"shape":"2"}})", "\"2\"", "shape must be an array of integers");
  expect_header_error(R"({"q":{"shape":[2, "3"]}})", "\"3\"", "shape must hold integers");
  expect_header_error(R"({"q":{"shape":[2,1.5]}})", "1.5", "2^63 - 1, not the number 1.5");
  expect_header_error(R"({"q":{"shape":[2 ,-1]}})", "-1", "not a negative number");
  expect_header_error(R"({"q":{"data_offsets":{}}})", "{}", "data_offsets must be an array");
  expect_header_error(R"({"q":{"data_offsets":[-8,0]}})", "-8", "not a negative number");
  expect_header_error(R"({"q":{"data_offsets":[0]}})", "\"data_off", "must hold 2 numbers");
  expect_header_error(R"({"q":{"data_offsets":[]}})", "\"data_off", "must hold 2 numbers");
  expect_header_error(R"({"q":{"data_offsets":[0,4,8]}})", "8", "must hold 2 numbers");
}

TEST(MalformedSafetensors, OtherDtypesAreNamed) {
  for (const char* dtype : {"I16", "F8_E5M2FNUZ", "I64", "f32", ""})
    expect_header_error(std::string(R"({"q":{"dtype":")") + dtype + "\"}}",
                        std::string("\"") + dtype + "\"}",
                        std::string("'q': dtype '") + dtype + "' is not supported");
}

TEST(MalformedSafetensors, HugeShapesAndOffsets) {
  const auto shaped = [](std::string_view shape, std::string_view offsets) {
    return R"({"q":{"dtype":"F64","shape":[)" + std::string(shape) + R"(],"data_offsets":[)" +
           std::string(offsets) + "]}}";
  };
  expect_header_error(shaped("9223372036854775808", "0,8"), "9223372036854775808", "2^63 - 1");
  expect_header_error(shaped("99999999999999999999", "0,8"), "99999999999999999999", "2^63 - 1");
  expect_header_error(shaped("0,8", "0,18446744073709551615"), "18446744073709551615", "2^63 - 1");
  expect_header_error(shaped("1152921504606846976", "0,8"), "\"q\"", "has 2^63 bytes or more");
  expect_header_error(shaped("4294967296,4294967296", "0,8"), "\"q\"", "has 2^63 bytes or more");
  // 2^61 * 8 wraps to 0 in 64 bits: the product must be checked, not only its outcome.
  expect_header_error(shaped("2305843009213693952", "0,0"), "\"q\"", "has 2^63 bytes or more");
  expect_header_error(shaped("1,2,3,4,5,6,7,8,9,1000", "0,8"), "\"q\"",
                      "shape [1, 2, 3, 4, 5, 6, 7, 8, ...] takes 2903040000 bytes");
}

TEST(MalformedSafetensors, Layout) {
  const auto named = [](std::string_view name, Index count, Index begin, Index end) {
    return "\"" + std::string(name) + R"(":{"dtype":"F32","shape":[)" + std::to_string(count) +
           R"(],"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) + "]}";
  };
  const auto header = [](const std::string& members) { return "{" + members + "}"; };
  expect_header_error(header(named("q", 2, 8, 0)), "\"q\"", "data_offsets [8, 0] are reversed");
  expect_header_error(header(named("q", 2, 0, 4)), "\"q\"", "takes 8 bytes, data_offsets span 4");
  expect_header_error(header(named("q", 3, 0, 12)), "\"q\"", "end at 12, beyond the 8 bytes");
  const auto at_data = [&](const std::string& members, Index into_data, std::string_view what) {
    const std::string text = header(members);
    expect_error(file_text(text, "12345678"), 8 + static_cast<Index>(text.size()) + into_data,
                 what);
  };
  at_data(named("q", 2, 0, 8) + "," + named("k", 1, 4, 8), 4, "'k' overlaps tensor 'q'");
  at_data(named("q", 2, 0, 8) + "," + named("k", 2, 0, 8), 0, "'k' overlaps tensor 'q'");
  at_data(named("q", 1, 4, 8), 0, "hole of 4 bytes before tensor 'q'");
  at_data(named("q", 0, 0, 0) + "," + named("k", 1, 4, 8), 0, "hole of 4 bytes before");
  at_data(named("q", 1, 0, 4), 4, "4 trailing bytes belong to no tensor");
  at_data("", 0, "8 trailing bytes belong to no tensor");
}

TEST(MalformedSafetensors, TruncationAtEveryByte) {
  const std::string text = file_text(kSmall, std::string(16, 'x'));
  ASSERT_TRUE(parse(text).ok()) << parse(text).status().message();
  for (std::size_t length = 0; length < text.size(); ++length) {
    const Result<SafetensorsFile> parsed = parse(text.substr(0, length));
    ASSERT_FALSE(parsed.ok()) << length;
    EXPECT_EQ(parsed.status().code(), StatusCode::io_error);
    EXPECT_THAT(parsed.status().message(), StartsWith("folder/bad.safetensors: byte "));
  }
}

TEST(MalformedSafetensors, RandomDamageNeverEscapesTheStatus) {
  const std::string valid = file_text(kSmall, std::string(16, 'x'));
  std::mt19937_64 random(20240601);
  const std::string_view likely = "{}[]\",:0123456789-.eE\\tF\0\xff";
  int errors = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string text = valid;
    for (std::uint64_t change = random() % 4 + 1; change > 0; --change) {
      char& byte = text[random() % text.size()];
      byte = trial % 2 == 0 ? static_cast<char>(random() & 0xff) : likely[random() % likely.size()];
    }
    const Result<SafetensorsFile> parsed = parse(text);
    if (parsed.ok()) continue;
    ++errors;
    ASSERT_THAT(parsed.status().message(), StartsWith("folder/bad.safetensors: byte "));
    ASSERT_THAT(parsed.status().message(), Not(HasSubstr("\n")));
  }
  EXPECT_GT(errors, 10'000);
}

using MalformedFile = TemporaryFolder;

void expect_file_error(const std::filesystem::path& path, std::string_view what) {
  const Result<SafetensorsFile> read = read_safetensors(path);
  ASSERT_FALSE(read.ok()) << what;
  EXPECT_EQ(read.status().code(), StatusCode::io_error);
  EXPECT_THAT(read.status().message(), StartsWith(path.string() + ": "));
  EXPECT_THAT(read.status().message(), HasSubstr(std::string(what)));
}

TEST_F(MalformedFile, NoRegularFile) {
  expect_file_error(folder() / "missing.safetensors", "No such file");
  expect_file_error(folder(), "not a regular file");
  const std::filesystem::path pipe = folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_file_error(pipe, "not a regular file");
}

TEST_F(MalformedFile, SameErrorsAsInMemory) {
  expect_file_error(write("empty", ""), "byte 0: the file ends inside");
  expect_file_error(write("cut", file_text(kSmall, "12345678")), "beyond the 8 bytes of data");
}

TEST_F(MalformedFile, GiantHeaderInASparseFileTakesNoMemory) {
  const std::uint64_t header_bytes = std::uint64_t{1} << 32;
  const std::filesystem::path path = write("giant", with_length(header_bytes, "{}"));
  std::error_code code;
  std::filesystem::resize_file(path, header_bytes + 100, code);
  if (code) GTEST_SKIP() << "no sparse files here: " << code.message();
  expect_file_error(path, "byte 0: header length 4294967296 is over the limit of 10000000");
}

TEST_F(MalformedFile, NewlineInTheFileNameStaysInOneLine) {
  const Result<SafetensorsFile> read = read_safetensors(write("two\nlines", ""));
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("two\\x0alines: byte 0: "));
}

}  // namespace
}  // namespace attest::tensors
