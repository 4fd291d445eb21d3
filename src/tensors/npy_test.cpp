// What right .npy files give. The first is what numpy 1.24 wrote, byte for byte.
#include "tensors/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tensors/test_folder.hpp"
#include "tensors/test_npy.hpp"

namespace attest::tensors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NpyArray parsed(const std::string& text) {
  const Result<NpyArray> array = parse_npy(std::as_bytes(std::span(text)), "right.npy");
  EXPECT_TRUE(array.ok()) << array.status().message();
  return array.ok() ? array.value() : NpyArray{};
}

template <class Number>
std::vector<Number> numbers(const NpyArray& array) {
  std::vector<Number> read(array.bytes.size() / sizeof(Number));
  std::memcpy(read.data(), array.bytes.data(), array.bytes.size());
  return read;
}

/// numpy.save of numpy.arange(6, dtype="float32").reshape(2, 3).
std::string saved_by_numpy() {
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  dict.resize(117, ' ');
  return npy_text(dict + "\n", bytes_of<float>({0, 1, 2, 3, 4, 5}));
}

TEST(Npy, ReadsWhatNumpyWrites) {
  const std::string text = saved_by_numpy();
  ASSERT_EQ(text.size() % 64, 24U) << "numpy aligns the data to 64 bytes";
  const NpyArray array = parsed(text);
  EXPECT_EQ(array.descr, "<f4");
  EXPECT_EQ(array.dtype, Dtype::f32);
  EXPECT_THAT(array.shape, ElementsAre(2, 3));
  EXPECT_THAT(numbers<float>(array), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Npy, ReadsEveryVersion) {
  for (const int major : {1, 2, 3})
    EXPECT_THAT(
        numbers<double>(parsed(npy_text(npy_dict("<f8", "(1,)"), bytes_of<double>({-0.5}), major))),
        ElementsAre(-0.5));
}

TEST(Npy, ReadsKeysInAnyOrderAndEitherQuote) {
  const NpyArray array = parsed(
      npy_text(R"({"shape":(3,),"fortran_order":True,"descr":'<f4'})", bytes_of<float>({1, 2, 3})));
  EXPECT_THAT(numbers<float>(array), ElementsAre(1, 2, 3));
}

TEST(Npy, ReadsScalarsAndEmptyArrays) {
  EXPECT_TRUE(parsed(npy_text(npy_dict("<f8", "()"), bytes_of<double>({7}))).shape.empty());
  EXPECT_THAT(parsed(npy_text(npy_dict("<f4", "(2, 0, 3)"), "")).shape, ElementsAre(2, 0, 3));
}

TEST(Npy, SwapsTheOtherByteOrder) {
  std::string big = bytes_of<double>({1.5, -2});
  for (std::size_t at = 0; at < big.size(); at += 8)
    std::reverse(big.begin() + static_cast<std::ptrdiff_t>(at),
                 big.begin() + static_cast<std::ptrdiff_t>(at + 8));
  EXPECT_THAT(numbers<double>(parsed(npy_text(npy_dict(">f8", "(2,)"), big))),
              ElementsAre(1.5, -2));
  EXPECT_THAT(numbers<char>(parsed(npy_text(npy_dict(">u2", "(2,)"), "abcd"))),
              ElementsAre('b', 'a', 'd', 'c'));
  // V2 has no order of its own.
  EXPECT_THAT(numbers<char>(parsed(npy_text(npy_dict(">V2", "(1,)"), "ab"))),
              ElementsAre('a', 'b'));
}

TEST(Npy, ReordersFortranOrder) {
  // a[i][j][k] = 100 i + 10 j + k, first index fastest.
  std::vector<float> column_major;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) column_major.push_back(static_cast<float>(100 * i + 10 * j + k));
  const NpyArray array =
      parsed(npy_text(npy_dict("<f4", "(2, 3, 4)", true), bytes_of(column_major)));
  std::vector<float> row_major;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) row_major.push_back(static_cast<float>(100 * i + 10 * j + k));
  EXPECT_EQ(numbers<float>(array), row_major);
  EXPECT_THAT(array.shape, ElementsAre(2, 3, 4));
}

Result<Entry> as_entry(std::string_view descr, std::string_view data, std::optional<Dtype> dtype) {
  return to_entry(parsed(npy_text(npy_dict(descr, "(1,)"), data)), "q", dtype);
}

TEST(Npy, BitsGetTheTypeThatIsNamed) {
  EXPECT_EQ(as_entry("<u2", "ab", Dtype::bf16).value().dtype, Dtype::bf16);
  EXPECT_EQ(as_entry("<u2", "ab", Dtype::f16).value().dtype, Dtype::f16);
  EXPECT_EQ(as_entry("|V2", "ab", std::nullopt).value().dtype, Dtype::bf16);
  EXPECT_EQ(as_entry("|V2", "ab", Dtype::f16).value().dtype, Dtype::f16);
  for (const char* descr : {"|u1", "|V1", "<f1"})
    EXPECT_EQ(as_entry(descr, "a", Dtype::e5m2).value().dtype, Dtype::e5m2);
  // What numpy has a type for keeps it.
  EXPECT_EQ(as_entry("<f2", "ab", Dtype::bf16).value().dtype, Dtype::f16);
}

TEST(Npy, BitsWithoutATypeAreRefused) {
  EXPECT_THAT(as_entry("<u2", "ab", std::nullopt).status().message(),
              HasSubstr("name their type in the problem text"));
  EXPECT_THAT(as_entry("|u1", "a", Dtype::bf16).status().message(), HasSubstr("are no bf16"));
}

class NpyFile : public TemporaryFolder {};

TEST_F(NpyFile, FromDisk) {
  const auto array = read_npy(write("q.npy", saved_by_numpy()));
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_THAT(numbers<float>(array.value()), ElementsAre(0, 1, 2, 3, 4, 5));
}

}  // namespace
}  // namespace attest::tensors
