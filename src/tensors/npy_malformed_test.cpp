// What malformed .npy files give: one line that names the file, the byte offset and the trouble.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <random>
#include <string>

#include "tensors/npy.hpp"
#include "tensors/test_folder.hpp"
#include "tensors/test_npy.hpp"

namespace attest::tensors {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void expect_error(const std::string& text, Index offset, std::string_view what) {
  const Result<NpyArray> array = parse_npy(std::as_bytes(std::span(text)), "folder/bad.npy");
  ASSERT_FALSE(array.ok()) << what;
  EXPECT_EQ(array.status().code(), StatusCode::io_error);
  const std::string message = array.status().message();
  EXPECT_THAT(message, StartsWith("folder/bad.npy: byte " + std::to_string(offset) + ": "));
  EXPECT_THAT(message, HasSubstr(std::string(what)));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  EXPECT_LT(message.size(), 500U);
}

/// Expects an error at the first occurrence of `marker` in the dict.
void expect_dict_error(const std::string& dict, std::string_view marker, std::string_view what) {
  const std::size_t at = dict.find(marker);
  ASSERT_NE(at, std::string::npos) << marker;
  expect_error(npy_text(dict, "12345678"), 10 + static_cast<Index>(at), what);
}

TEST(MalformedNpy, CutOffAnywhereBeforeItsEnd) {
  for (const int major : {1, 2}) {
    const std::string whole = npy_text(npy_dict("<f4", "(2,)"), "12345678", major);
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_FALSE(parse_npy(std::as_bytes(std::span(whole.data(), size)), "folder/bad.npy").ok())
          << size;
    EXPECT_TRUE(parse_npy(std::as_bytes(std::span(whole)), "folder/bad.npy").ok());
  }
  expect_error("", 0, "ends inside the first 8 bytes");
  expect_error(npy_text("", "").substr(0, 9), 9, "ends inside the length of the header");
}

TEST(MalformedNpy, WrongMagicAndVersion) {
  expect_error("PK\3\4 a zip file", 0, "not an npy file");
  expect_error(npy_text(npy_dict("<f4", "(2,)"), "12345678", 4), 6,
               "npy version 4.0 is not supported");
  expect_error(npy_text(npy_dict("<f4", "(2,)"), "12345678", 0), 6,
               "npy version 0.0 is not supported");
}

TEST(MalformedNpy, HeaderLengthLies) {
  const std::string magic = std::string("\x93NUMPY\2\0", 8);
  expect_error(magic + "\xff\xff\xff\xff{}", 8, "header length 4294967295 goes beyond the file");
  const std::string long_header = npy_dict("<f4", "(2,)") + std::string(70000, ' ');
  expect_error(npy_text(long_header, "12345678", 2), 8, "is over the limit of 65535");
}

TEST(MalformedNpy, DictThatIsNone) {
  expect_error(npy_text("import os", ""), 10, "is not a dict");
  expect_dict_error(npy_dict("<f4", "(2,)") + "x", "x", "goes on behind its dict");
  expect_dict_error("{'shape': (2,), 'fortran_order': False}", "{", "has no descr");
  expect_dict_error("{'shape': (2,), 'shape': (2,)}", "'shape': (2,)}", "duplicate key 'shape'");
  expect_dict_error("{'name': 1}", "'name'", "unknown key 'name'");
  expect_dict_error("{'descr': [('a', '<f4')], 'shape'", "[", "descr must be a string");
  expect_dict_error("{'descr': '<f4", "'<f4", "a string does not end");
  expect_dict_error("{'fortran_order': 1}", "1", "must be True or False");
  expect_dict_error("{'shape': [2]}", "[", "shape must be a tuple");
  expect_dict_error("{'descr' '<f4'}", "'<f4'", "needs : here");
  expect_dict_error("{'descr': '<f4' 'shape'}", "'shape'", "needs , or } here");
}

TEST(MalformedNpy, ShapeLies) {
  expect_dict_error(npy_dict("<f4", "(-2,)"), "-2", "integers from 0 to 2^63 - 1");
  expect_dict_error(npy_dict("<f4", "(2.0,)"), ".0", "shape needs , or )");
  expect_dict_error(npy_dict("<f4", "(99999999999999999999,)"), "9999", "integers from 0");
  expect_dict_error(npy_dict("<f4", "(4611686018427387904, 4)"), "(4611", "2^63 bytes or more");
  expect_dict_error(npy_dict("<f4", "(0, 4611686018427387904, 4)"), "(0", "2^63 bytes or more");
  expect_dict_error(npy_dict("<f4", "(3,)"), "(3", "takes 12 bytes, the file has 8");
  expect_dict_error(npy_dict("<f4", "(1,)"), "(1", "takes 4 bytes, the file has 8");
  std::string deep = "(";
  for (int axis = 0; axis < 65; ++axis) deep += "1,";
  const std::string dict = npy_dict("<f4", deep + ")");
  const auto last = static_cast<Index>(dict.find('(') + 1 + 2 * 64);
  expect_error(npy_text(dict, "1234"), 10 + last, "more than 64 extents");
}

TEST(MalformedNpy, TypesThatAreNotOurs) {
  for (const char* descr : {"<i4", "|O", "<c8", "<f16", "|S4", "", "f4", "<f3", "|b1"})
    expect_dict_error(npy_dict(descr, "(1,)"), "'" + std::string(descr) + "'", "not supported");
}

TEST(MalformedNpy, TextOfAFileIsPrintedSafely) {
  expect_dict_error("{'a\x1b[31m\xff': 1}", "'a", R"(unknown key 'a\x1b[31m\xff')");
}

/// No bytes do more than refuse.
TEST(MalformedNpy, RandomDamage) {
  std::mt19937 random(1);
  const std::string whole = npy_text(npy_dict("<f2", "(2, 2)", true), "12345678");
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = whole;
    for (int change = 0; change < 3; ++change)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto array = parse_npy(std::as_bytes(std::span(damaged)), "folder/bad.npy");
    EXPECT_TRUE(!array.ok() || array.value().bytes.size() <= 8U);
  }
}

class MalformedNpyFile : public TemporaryFolder {};

/// A file that says it has 4 GiB of header, and one that says it has 16 EiB of elements, are
/// refused by a process that may not take 1 GiB more.
TEST_F(MalformedNpyFile, LiesTakeNoMemory) {
  const auto header =
      write("header.npy", std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12) + "{'descr'");
  const auto elements =
      write("elements.npy", npy_text(npy_dict("<f4", "(2305843009213693951,)"), "12345678"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit limited{std::min(before.rlim_max, rlim_t{1} << 30), before.rlim_max};
#if !defined(__SANITIZE_ADDRESS__)
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limited), 0);
#endif
  const auto of_header = read_npy(header);
  const auto of_elements = read_npy(elements);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_THAT(of_header.status().message(), HasSubstr("goes beyond the file's end"));
  EXPECT_THAT(of_elements.status().message(), HasSubstr("the file has 8"));
}

TEST_F(MalformedNpyFile, WhatIsNoFile) {
  EXPECT_THAT(read_npy(folder() / "missing.npy").status().message(), HasSubstr("No such file"));
  EXPECT_THAT(read_npy(folder()).status().message(), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace attest::tensors
