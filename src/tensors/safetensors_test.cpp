// Round trips and the writer's promises; what malformed input gives is in
// safetensors_malformed_test.cpp.
#include "tensors/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <tuple>

#include "attest/element.hpp"
#include "tensors/test_folder.hpp"

namespace attest::tensors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

template <class Real>
Entry entry(std::string name, std::vector<Index> shape, const std::vector<Real>& elements) {
  Entry made{std::move(name), dtype_of<Real>(), std::move(shape), {}};
  const auto bytes = std::as_bytes(std::span(elements));
  made.bytes.assign(bytes.begin(), bytes.end());
  return made;
}

SafetensorsFile sample() {
  SafetensorsFile file;
  file.metadata = {{"scale", "0.125"}, {"quote \" and \n line", "\xc3\xbc"}};
  const float infinite = std::numeric_limits<float>::infinity();
  file.entries.push_back(entry<float>("q", {2, 3}, {1, -0.0f, infinite, 4, 5, 0x1p-149f}));
  file.entries.push_back(entry<double>("a \xc3\xa9", {1, 2, 1}, {0.1, -1e300}));
  file.entries.push_back(entry<float>("scalar", {}, {7}));
  file.entries.push_back(entry<float>("empty", {3, 0}, {}));
  return file;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Limits the size of files that this process writes, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

using Safetensors = TemporaryFolder;

TEST_F(Safetensors, RoundTripKeepsEveryBit) {
  const std::filesystem::path path = folder() / "sample.safetensors";
  ASSERT_TRUE(write_safetensors(path, sample()).ok());
  const Result<SafetensorsFile> read = read_safetensors(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value(), sample());

  const std::string text = content(path);
  const auto parsed = parse_safetensors(std::as_bytes(std::span(text)), "memory");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed.value(), sample());
}

/// Every code of a type of one or two bytes.
Entry all_codes(Dtype dtype) {
  const std::size_t size = size_of(dtype);
  const Index count = Index{1} << 8 * size;
  Entry made{std::string(to_string(dtype)), dtype, {count}, {}};
  for (Index code = 0; code < count; ++code)
    for (std::size_t byte = 0; byte < size; ++byte)
      made.bytes.push_back(static_cast<std::byte>(code >> 8 * byte & 0xff));
  return made;
}

TEST_F(Safetensors, RoundTripKeepsEveryCodeOfTheNarrowTypes) {
  SafetensorsFile file;
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16, Dtype::e4m3, Dtype::e5m2})
    file.entries.push_back(all_codes(dtype));
  const std::filesystem::path path = folder() / "codes.safetensors";
  ASSERT_TRUE(write_safetensors(path, file).ok());
  const Result<SafetensorsFile> read = read_safetensors(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value(), file);
}

/// One element of the type that the format calls so.
Entry parsed_element(const std::string& type_name, std::string_view bytes) {
  std::string header = R"({"one":{"dtype":")" + type_name + R"(","shape":[],"data_offsets":[0,)" +
                       std::to_string(bytes.size()) + "]}}";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  text += header + std::string(bytes);
  const auto parsed = parse_safetensors(std::as_bytes(std::span(text)), "memory");
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? parsed.value().entries.at(0) : Entry{};
}

TEST_F(Safetensors, EveryTypeHasTheNameThatTheFormatGivesIt) {
  using std::string_view_literals::operator""sv;
  const std::tuple<const char*, Dtype, std::string_view> ones[]{
      {"F32", Dtype::f32, "\x00\x00\x80\x3f"sv},
      {"F64", Dtype::f64, "\x00\x00\x00\x00\x00\x00\xf0\x3f"sv},
      {"BF16", Dtype::bf16, "\x80\x3f"sv},
      {"F16", Dtype::f16, "\x00\x3c"sv},
      {"F8_E4M3", Dtype::e4m3, "\x38"sv},
      {"F8_E5M2", Dtype::e5m2, "\x3c"sv}};
  for (const auto& [name, dtype, bytes] : ones) {
    const Entry one = parsed_element(name, bytes);
    EXPECT_EQ(one.dtype, dtype) << name;
    EXPECT_EQ(load_element(one.dtype, one.bytes.data()), 1.0) << name;
  }
}

TEST_F(Safetensors, RoundTripOfAFileWithoutTensors) {
  const std::filesystem::path path = folder() / "none.safetensors";
  ASSERT_TRUE(write_safetensors(path, {}).ok());
  const Result<SafetensorsFile> read = read_safetensors(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value(), SafetensorsFile{});
}

TEST_F(Safetensors, DataStartsAtAMultipleOfEightBytes) {
  const std::filesystem::path path = folder() / "sample.safetensors";
  ASSERT_TRUE(write_safetensors(path, sample()).ok());
  EXPECT_EQ(content(path)[0] % 8, 0);
}

TEST_F(Safetensors, FindsByName) {
  const SafetensorsFile file = sample();
  ASSERT_NE(file.find("scalar"), nullptr);
  EXPECT_EQ(file.find("scalar")->bytes.size(), 4U);
  EXPECT_EQ(file.find("k"), nullptr);
}

TEST_F(Safetensors, EntriesComeInTheOrderOfTheirBytes) {
  const std::string header = R"({"late":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                             R"("early":{"shape":[1],"data_offsets":[0,4],"dtype":"F32"}}  )";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  text += header + "earllate";
  const auto parsed = parse_safetensors(std::as_bytes(std::span(text)), "memory");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  ASSERT_EQ(parsed.value().entries.size(), 2U);
  EXPECT_EQ(parsed.value().entries[0].name, "early");
  EXPECT_EQ(std::memcmp(parsed.value().entries[1].bytes.data(), "late", 4), 0);
}

TEST_F(Safetensors, ReadsWhatAnotherImplementationWrote) {
  const auto read = read_safetensors(std::filesystem::path(ATTEST_DATA_DIR) / "real" /
                                     "uselite-padded-layer00-head01.safetensors");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().metadata.at("scale"), "0.125");
  ASSERT_NE(read.value().find("bias"), nullptr);
  EXPECT_THAT(read.value().find("bias")->shape, ElementsAre(1, 45));
  EXPECT_THAT(read.value().find("q")->shape, ElementsAre(45, 64));
}

TEST_F(Safetensors, WritingReplacesAndLeavesNothingElse) {
  const std::filesystem::path path = write("sample.safetensors", "older");
  ASSERT_TRUE(write_safetensors(path, sample()).ok());
  EXPECT_TRUE(read_safetensors(path).ok());
  EXPECT_THAT(names(), ElementsAre("sample.safetensors"));
}

TEST_F(Safetensors, FailedWriteKeepsTheOlderFileAndRemovesTheTemporaryOne) {
  const std::filesystem::path path = write("sample.safetensors", "older");
  SafetensorsFile large;
  large.entries.push_back(entry<double>("q", {1 << 16}, std::vector<double>(1 << 16)));
  Status status;
  {
    const FileSizeLimit limit(100'000);
    status = write_safetensors(path, large);
  }
  EXPECT_EQ(status.code(), StatusCode::io_error);
  EXPECT_THAT(status.message(), HasSubstr(path.string() + ": cannot write: "));
  EXPECT_EQ(content(path), "older");
  EXPECT_THAT(names(), ElementsAre("sample.safetensors"));
}

TEST_F(Safetensors, WritingOntoAFolderFails) {
  const std::filesystem::path path = folder() / "taken";
  std::filesystem::create_directories(path / "inside");
  const Status status = write_safetensors(path, sample());
  EXPECT_EQ(status.code(), StatusCode::io_error);
  EXPECT_THAT(status.message(), HasSubstr(path.string() + ": cannot be replaced: "));
  EXPECT_THAT(names(), UnorderedElementsAre("taken"));
}

TEST_F(Safetensors, WritingIntoAMissingFolderFails) {
  const std::filesystem::path path = folder() / "missing" / "sample.safetensors";
  const Status status = write_safetensors(path, sample());
  EXPECT_EQ(status.code(), StatusCode::io_error);
  EXPECT_THAT(status.message(), HasSubstr(path.string()));
}

TEST_F(Safetensors, ContentWithoutAFileIsRefused) {
  const std::filesystem::path path = folder() / "refused.safetensors";
  const auto refused = [&path](Entry bad) {
    SafetensorsFile file = sample();
    file.entries.push_back(std::move(bad));
    const Status status = write_safetensors(path, file);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << status.message();
    EXPECT_THAT(status.message(), HasSubstr(path.string()));
    return status.message();
  };
  EXPECT_THAT(refused(entry<float>("q", {1}, {1})), HasSubstr("tensor 'q' is there twice"));
  EXPECT_THAT(refused(entry<float>("__metadata__", {1}, {1})), HasSubstr("reserved"));
  EXPECT_THAT(refused(entry<float>("x", {3}, {1})), HasSubstr("do not fit the shape [3]"));
  EXPECT_THAT(refused(entry<float>("x", {-1}, {})), HasSubstr("do not fit the shape [-1]"));
  EXPECT_THAT(refused(entry<float>("x", {Index{1} << 62, Index{1} << 62}, {})),
              HasSubstr("do not fit the shape"));
  EXPECT_THAT(refused(entry<float>("\xff", {1}, {1})), HasSubstr("UTF-8"));
  EXPECT_THAT(names(), ElementsAre());
}

}  // namespace
}  // namespace attest::tensors
