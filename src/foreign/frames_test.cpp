#include "foreign/frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace attest::foreign {
namespace {

using testing::HasSubstr;

std::string bytes_of(const std::string& line, const std::string& data) {
  const auto header = frame_header(static_cast<std::uint32_t>(line.size()), data.size());
  return std::string(reinterpret_cast<const char*>(header.data()), header.size()) + line + data;
}

/// Feeds bytes in pieces of this size; the status of the first piece that is refused.
Status feed(FrameReader& reader, const std::string& bytes, std::size_t piece) {
  std::size_t at = 0;
  while (at < bytes.size() && !reader.complete()) {
    const auto room = reader.room();
    EXPECT_FALSE(room.empty());
    const std::size_t count = std::min({room.size(), piece, bytes.size() - at});
    std::memcpy(room.data(), bytes.data() + at, count);
    at += count;
    if (Status status = reader.take(count); !status.ok()) return status;
  }
  return {};
}

Status refusal(const std::string& bytes) {
  FrameReader reader({1000, 5000});
  return feed(reader, bytes, 1);
}

TEST(Frames, AFrameComesBackInPiecesOfAnySize) {
  const std::string data(3000, 'x');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
    FrameReader reader({1000, 5000});
    ASSERT_TRUE(feed(reader, bytes_of("{\"id\":1}\n", data), piece).ok());
    ASSERT_TRUE(reader.complete());
    const Frame frame = std::move(reader).frame();
    EXPECT_EQ(frame.line, "{\"id\":1}");
    ASSERT_EQ(frame.data.size(), data.size());
    EXPECT_EQ(std::memcmp(frame.data.data(), data.data(), data.size()), 0);
  }
}

TEST(Frames, NothingBehindTheFrameIsTaken) {
  FrameReader reader({1000, 5000});
  ASSERT_TRUE(feed(reader, bytes_of("{}\n", "abc") + "more", 1).ok());
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(std::move(reader).frame().data.size(), 3U);
}

TEST(Frames, GarbageIsRefusedAtItsFirstWrongLetter) {
  FrameReader reader({1000, 5000});
  EXPECT_TRUE(feed(reader, "AT", 1).ok());
  EXPECT_THAT(feed(reader, "x", 1).message(), HasSubstr("begins with ATP1, not with 'ATx'"));
}

TEST(Frames, LengthsBeyondTheLimitsAreRefusedBeforeAnythingIsRead) {
  EXPECT_TRUE(refusal(bytes_of(std::string(999, ' ') + "\n", "")).ok());
  EXPECT_THAT(refusal(bytes_of(std::string(1001, ' ') + "\n", "")).message(),
              HasSubstr("its line has"));
  const auto header = frame_header(3, std::uint64_t{1} << 32);
  const std::string claim(reinterpret_cast<const char*>(header.data()), header.size());
  EXPECT_THAT(refusal(claim).message(),
              HasSubstr("4294967296 bytes of data; at most 5000 are expected"));
}

TEST(Frames, MemoryGrowsWithWhatComesNotWithWhatIsSaid) {
  constexpr std::uint64_t kSaid = std::uint64_t{1} << 40;
  FrameReader reader({std::uint64_t{1} << 31, kSaid});
  const auto header = frame_header(3, kSaid);
  ASSERT_TRUE(
      feed(reader, std::string(reinterpret_cast<const char*>(header.data()), header.size()), 16)
          .ok());
  ASSERT_TRUE(feed(reader, "{}\n", 3).ok());
  EXPECT_LE(reader.room().size(), std::size_t{1} << 20);
}

TEST(Frames, ALineEndsOnceAndIsNotEmpty) {
  EXPECT_THAT(refusal(bytes_of("", "")).message(), HasSubstr("without a line"));
  EXPECT_THAT(refusal(bytes_of("{}", "")).message(), HasSubstr("does not end"));
  EXPECT_THAT(refusal(bytes_of("{\n}\n", "")).message(), HasSubstr("line break inside"));
}

TEST(Frames, SomebodyElsesTextBecomesOneShortLine) {
  EXPECT_EQ(in_quotes("a\nb\x01"), "'a b?'");
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_LT(in_quotes(std::string(5000, 'x')).size(), 200U);
}

}  // namespace
}  // namespace attest::foreign
