#include "foreign/shared_file.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <array>
#include <filesystem>

namespace attest::foreign {
namespace {

using Bytes = std::array<std::byte, 4>;
constexpr Bytes kSome{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};

SharedFile made() {
  Result<SharedFile> file = SharedFile::make();
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file.ok() ? std::move(file).value() : SharedFile();
}

TEST(SharedFile, IsForThisUserAloneAndEmpty) {
  const SharedFile file = made();
  ASSERT_TRUE(file.open());
  EXPECT_EQ(std::filesystem::status(file.path()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(std::filesystem::file_size(file.path()), 0U);
  EXPECT_NE(made().path(), file.path());
}

TEST(SharedFile, WhatOneSideWritesTheOtherReadsAlsoWithoutAName) {
  SharedFile file = made();
  Result<SharedFile> other = SharedFile::open_other(file.path());
  ASSERT_TRUE(other.ok()) << other.status().message();
  const std::string path = file.path();
  file.remove_name();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(file.write(1000, kSome));
  Bytes read{};
  EXPECT_TRUE(other.value().read(1000, read));
  EXPECT_EQ(read, kSome);
  EXPECT_TRUE(other.value().write(1002, kSome));
  EXPECT_TRUE(file.read(1000, read));
  EXPECT_EQ(read, (Bytes{std::byte{1}, std::byte{2}, std::byte{1}, std::byte{2}}));
}

TEST(SharedFile, BytesThatAreNotThereAreNotRead) {
  const SharedFile file = made();
  EXPECT_TRUE(file.write(0, kSome));
  Bytes read{};
  EXPECT_FALSE(file.read(1, read));
  std::filesystem::resize_file(file.path(), 3);
  EXPECT_FALSE(file.read(0, read));
  EXPECT_TRUE(file.read(0, std::span(read).first(3)));
}

TEST(SharedFile, BytesBeyondTheLimitOfAFileAreNotWritten) {
  const SharedFile file = made();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{5, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const bool within = file.write(1, kSome);
  const bool beyond = file.write(2, kSome);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(within);
  EXPECT_FALSE(beyond);
}

TEST(SharedFile, ItsNameGoesWithItsMaker) {
  std::string path;
  {
    SharedFile moved;
    SharedFile file = made();
    path = file.path();
    {
      const SharedFile other = SharedFile::open_other(path).value();
      EXPECT_TRUE(other.path().empty());
    }
    moved = std::move(file);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(SharedFile::open_other(path).ok());
}

}  // namespace
}  // namespace attest::foreign
