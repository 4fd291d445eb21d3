#include "tensors/library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attest/element.hpp"
#include "tensors/test_folder.hpp"

namespace attest::tensors {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const fs::path kRealFolder = fs::path(ATTEST_DATA_DIR) / "real";

/// Elements 0, 1, 2, ... of the given shape.
template <class Real = float>
Entry counting(std::string name, std::vector<Index> shape) {
  Index count = 1;
  for (const Index extent : shape) count *= extent;
  std::vector<Real> elements;
  elements.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) elements.push_back(static_cast<Real>(i));
  const auto bytes = std::as_bytes(std::span(elements));
  return {std::move(name), dtype_of<Real>(), std::move(shape), {bytes.begin(), bytes.end()}};
}

Entry bias(std::vector<float> values) {
  Entry entry = counting("bias", {1, static_cast<Index>(values.size())});
  std::ranges::copy(std::as_bytes(std::span(values)), entry.bytes.begin());
  return entry;
}

SafetensorsFile file_of(std::vector<Entry> entries,
                        std::map<std::string, std::string> metadata = {}) {
  return {std::move(metadata), std::move(entries)};
}

SafetensorsFile square() {
  return file_of({counting("q", {3, 2}), counting("k", {3, 2}), counting("v", {3, 2})});
}

std::string error_of(const SafetensorsFile& file) {
  const Result<RealAttention> attention = to_attention(file, "case");
  EXPECT_FALSE(attention.ok());
  EXPECT_EQ(attention.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(attention.status().message(), StartsWith("case: "));
  return attention.status().message();
}

/// The same numbers in another type.
Entry stored_as(Dtype dtype, const Entry& from) {
  Entry made{from.name, dtype, from.shape, {}};
  const std::size_t step = size_of(from.dtype);
  for (std::size_t at = 0; at < from.bytes.size(); at += step) {
    made.bytes.resize(made.bytes.size() + size_of(dtype));
    store_element(dtype, &made.bytes[made.bytes.size() - size_of(dtype)],
                  load_element(from.dtype, &from.bytes[at]));
  }
  return made;
}

TEST(ToAttention, NarrowTypesKeepTheirNumbers) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16, Dtype::e4m3, Dtype::e5m2}) {
    SafetensorsFile file = square();
    for (Entry& entry : file.entries) entry = stored_as(dtype, entry);
    file.entries.push_back(stored_as(Dtype::bf16, bias({0, -1e9F, 0})));
    const auto attention = to_attention(file, "case");
    ASSERT_TRUE(attention.ok()) << attention.status().message();
    const RealAttention& read = attention.value();
    EXPECT_EQ(read.problem.dtype, dtype);
    EXPECT_EQ(read.q.get(0, 0, 2, 1), 5);
    EXPECT_EQ(read.problem.mask.bits->visible, (std::vector<bool>{true, false, true}));
  }
}

TEST(ToAttention, RankTwoIsOneHead) {
  const auto attention = to_attention(
      file_of({counting("q", {3, 2}), counting("k", {4, 2}), counting("v", {4, 5})}), "case");
  ASSERT_TRUE(attention.ok()) << attention.status().message();
  const RealAttention& read = attention.value();
  EXPECT_EQ(read.name, "case");
  EXPECT_EQ(read.problem.q_extents(), (Extents{1, 1, 3, 2}));
  EXPECT_EQ(read.problem.k_extents(), (Extents{1, 1, 4, 2}));
  EXPECT_EQ(read.problem.v_extents(), (Extents{1, 1, 4, 5}));
  EXPECT_EQ(read.problem.lse, LseForm::natural);
  EXPECT_EQ(read.problem.scale, Scale{});
  EXPECT_TRUE(read.problem.mask.none());
  EXPECT_FALSE(read.model_output.has_value());
  EXPECT_EQ(read.v.get(0, 0, 2, 4), 14);
}

TEST(ToAttention, RankThreeKeepsEveryElementInPlace) {
  const auto attention =
      to_attention(file_of({counting<double>("q", {4, 3, 2}), counting<double>("k", {2, 5, 2}),
                            counting<double>("v", {2, 5, 1}), counting<double>("o", {4, 3, 1})}),
                   "case");
  ASSERT_TRUE(attention.ok()) << attention.status().message();
  const RealAttention& read = attention.value();
  EXPECT_EQ(read.problem.dtype, Dtype::f64);
  EXPECT_EQ(read.problem.heads_q, 4);
  EXPECT_EQ(read.problem.heads_kv, 2);
  EXPECT_EQ(read.q.strides(), bshd_strides(read.q.extents()));
  for_each_index(read.q.extents(), [&](Index b, Index h, Index row, Index column) {
    EXPECT_EQ(read.q.get(b, h, row, column), static_cast<double>((h * 3 + row) * 2 + column));
  });
  const Tensor output = read.model_output.value_or(Tensor{});
  ASSERT_EQ(output.extents(), read.problem.out_extents());
  EXPECT_EQ(output.get(0, 3, 2, 0), 11);
}

TEST(ToAttention, Metadata) {
  SafetensorsFile file = square();
  file.metadata = {{"scale", "0.0883883461356163"}, {"causal", "true"}, {"model", "none"}};
  auto attention = to_attention(file, "case");
  ASSERT_TRUE(attention.ok()) << attention.status().message();
  EXPECT_EQ(attention.value().problem.scale, (Scale{false, 0.0883883461356163}));
  EXPECT_EQ(attention.value().problem.mask.causal, (Causal{Causal::Alignment::top_left, 0}));
  EXPECT_EQ(attention.value().metadata, file.metadata);

  file.entries[0] = counting("q", {2, 2});
  attention = to_attention(file, "case");
  ASSERT_TRUE(attention.ok()) << attention.status().message();
  EXPECT_EQ(attention.value().problem.mask.causal, (Causal{Causal::Alignment::bottom_right, 0}));

  file.metadata = {{"causal", "false"}};
  attention = to_attention(file, "case");
  ASSERT_TRUE(attention.ok()) << attention.status().message();
  EXPECT_TRUE(attention.value().problem.mask.none());
}

TEST(ToAttention, WrongMetadata) {
  SafetensorsFile file = square();
  for (const char* scale : {"", "fast", "0.5x", " 0.5", "nan", "inf", "1e999"}) {
    file.metadata = {{"scale", scale}};
    EXPECT_THAT(error_of(file), HasSubstr(std::string("metadata scale '") + scale + "'"));
  }
  file.metadata = {{"scale", "1e300"}};  // a finite double, but infinite in f32
  EXPECT_THAT(error_of(file), HasSubstr("scale must be finite"));
  file.metadata = {{"causal", "True"}};
  EXPECT_THAT(error_of(file), HasSubstr("metadata causal 'True'"));
}

TEST(ToAttention, BiasIsReadAsExclusion) {
  SafetensorsFile file = square();
  file.entries.push_back(bias({0, -1e9F, -0.0F}));
  auto attention = to_attention(file, "case");
  ASSERT_TRUE(attention.ok()) << attention.status().message();
  EXPECT_EQ(attention.value().problem.mask.bits, (MaskBits{1, 3, {true, false, true}}));

  file.entries.back() = bias({-std::numeric_limits<float>::infinity(), 0, 0});
  attention = to_attention(file, "case");
  ASSERT_TRUE(attention.ok()) << attention.status().message();
  EXPECT_EQ(attention.value().problem.mask.bits, (MaskBits{1, 3, {false, true, true}}));
}

TEST(ToAttention, OtherBiasIsNamed) {
  SafetensorsFile file = square();
  file.entries.push_back(bias({0, 0, -0.5F}));
  EXPECT_THAT(error_of(file), HasSubstr("'bias' is -0.5 at key 2;"));
  for (const float value : {-1e8F, 1e9F, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN(), 0x1p-149F}) {
    file.entries.back() = bias({0, value, 0});
    EXPECT_THAT(error_of(file), HasSubstr("at key 1"));
  }
  file.entries.back() = bias({0, 0});
  EXPECT_THAT(error_of(file), HasSubstr("'bias' has shape [1, 2], expected [1, 3]"));
  file.entries.back() = counting("bias", {3});
  EXPECT_THAT(error_of(file), HasSubstr("'bias' has shape [3], expected [1, 3]"));
}

TEST(ToAttention, WrongTensors) {
  const auto replaced = [](Entry entry) {
    SafetensorsFile file = square();
    std::erase_if(file.entries, [&](const Entry& old) { return old.name == entry.name; });
    file.entries.push_back(std::move(entry));
    return error_of(file);
  };
  EXPECT_THAT(error_of({}), HasSubstr("tensor 'q' is missing"));
  EXPECT_THAT(error_of(file_of({counting("q", {3, 2}), counting("k", {3, 2})})),
              HasSubstr("tensor 'v' is missing"));
  EXPECT_THAT(replaced(counting("q", {6})), HasSubstr("'q' has shape [6], expected rank 2 or 3"));
  EXPECT_THAT(replaced(counting("k", {1, 3, 2})), HasSubstr("'k' has shape [1, 3, 2], q has rank"));
  EXPECT_THAT(replaced(counting("k", {3, 4})), HasSubstr("'k' has shape [3, 4], expected [3, 2]"));
  EXPECT_THAT(replaced(counting("v", {4, 2})), HasSubstr("'v' has shape [4, 2], expected [3, 2]"));
  EXPECT_THAT(replaced(counting("o", {3, 1})), HasSubstr("'o' has shape [3, 1], expected [3, 2]"));
  EXPECT_THAT(replaced(counting<double>("v", {3, 2})), HasSubstr("'v' is f64, q is f32"));
  Entry short_of_bytes = counting("v", {3, 2});
  short_of_bytes.bytes.pop_back();
  EXPECT_THAT(replaced(short_of_bytes), HasSubstr("'v': 23 bytes do not fit the shape [3, 2]"));
  EXPECT_THAT(replaced(counting("mask", {3, 3})), HasSubstr("'mask' has no known meaning"));
  EXPECT_THAT(error_of(file_of(
                  {counting("q", {3, 1, 2}), counting("k", {2, 1, 2}), counting("v", {2, 1, 2})})),
              HasSubstr("query heads (3)"));
  EXPECT_THAT(
      error_of(file_of({counting("q", {1, 0}), counting("k", {1, 0}), counting("v", {1, 0})})),
      HasSubstr("head_dim"));
  const Index huge = Index{1} << 61;
  EXPECT_THAT(error_of(file_of({counting("q", {8, 0, huge}), counting("k", {8, 0, huge}),
                                counting("v", {8, 0, 1})})),
              HasSubstr("is too large"));
}

TEST(ToAttention, NoQueriesAndNoKeys) {
  const auto attention = to_attention(
      file_of({counting("q", {0, 2}), counting("k", {0, 2}), counting("v", {0, 2})}), "case");
  ASSERT_TRUE(attention.ok()) << attention.status().message();
  EXPECT_EQ(attention.value().problem.rows(), 0);
}

/// Largest distance of the recording's o from attention recomputed in double; of a long recording
/// every 7th query, since this runs unoptimised and under sanitizers as well.
double output_error(const RealAttention& recording, const Tensor& output) {
  const Problem& problem = recording.problem;
  const double scale = scale_value(problem);
  double largest = 0;
  std::vector<double> weights(static_cast<std::size_t>(problem.seq_kv));
  for_each_index(problem.lse_extents(), [&](Index b, Index h, Index query, Index /*column*/) {
    if (problem.seq_q > 256 && query % 7 != 0) return;
    double row_max = -std::numeric_limits<double>::infinity();
    for (Index key = 0; key < problem.seq_kv; ++key) {
      double& score = weights[static_cast<std::size_t>(key)];
      score = -std::numeric_limits<double>::infinity();
      if (!visible(problem, b, query, key)) continue;
      double dot = 0;
      for (Index c = 0; c < problem.head_dim; ++c)
        dot += recording.q.get(b, h, query, c) * recording.k.get(b, problem.kv_head(h), key, c);
      score = scale * dot;
      row_max = std::max(row_max, score);
    }
    double row_sum = 0;
    for (double& weight : weights) row_sum += weight = std::exp(weight - row_max);
    for (Index c = 0; c < problem.head_dim_v; ++c) {
      double out = 0;
      for (Index key = 0; key < problem.seq_kv; ++key)
        out +=
            weights[static_cast<std::size_t>(key)] * recording.v.get(b, problem.kv_head(h), key, c);
      largest = std::max(largest, std::abs(out / row_sum - output.get(b, h, query, c)));
    }
  });
  return largest;
}

TEST(RealData, EveryRecordingReproducesTheModelsOutput) {
  const Result<TensorLibrary> library = TensorLibrary::open({kRealFolder});
  ASSERT_TRUE(library.ok()) << library.status().message();
  ASSERT_FALSE(library.value().all().empty());
  for (const RealAttention& recording : library.value().all()) {
    EXPECT_TRUE(validate(recording.problem).ok());
    const Tensor output = recording.model_output.value_or(Tensor{});
    ASSERT_EQ(output.extents(), recording.problem.out_extents()) << recording.name;
    // The data's own table (data/real/README.md) has 1.0e-5 for the least accurate file.
    EXPECT_LT(output_error(recording, output),
              recording.name.starts_with("kjvgpt") ? 1.05e-5 : 1.75e-6)
        << recording.name;
  }
}

TEST(RealData, KnownShapesAndMasks) {
  const Result<TensorLibrary> library = TensorLibrary::open({kRealFolder});
  ASSERT_TRUE(library.ok()) << library.status().message();
  const RealAttention* padded = library.value().find("uselite-padded-layer00-head01");
  ASSERT_NE(padded, nullptr);
  const MaskBits bits = padded->problem.mask.bits.value_or(MaskBits{});
  EXPECT_EQ(bits.columns, 45);
  EXPECT_EQ(std::ranges::count(bits.visible, true), 7);
  const RealAttention* causal = library.value().find("kjvgpt-layer01-head01");
  ASSERT_NE(causal, nullptr);
  EXPECT_EQ(causal->problem.mask.causal, (Causal{Causal::Alignment::top_left, 0}));
  EXPECT_EQ(causal->problem.q_extents(), (Extents{1, 1, 1024, 64}));
  EXPECT_EQ(library.value().find("kjvgpt"), nullptr);
  EXPECT_EQ(library.value().find("zzz"), nullptr);
}

using Library = TemporaryFolder;

TEST_F(Library, AllIsSortedAcrossFoldersAndReadsOnlySafetensors) {
  fs::create_directories(folder() / "one");
  fs::create_directories(folder() / "two");
  for (const char* name : {"one/c", "two/b", "one/a"})
    ASSERT_TRUE(write_safetensors(folder() / (std::string(name) + ".safetensors"), square()).ok());
  write("one/notes.txt", "not a tensor");
  const auto library = TensorLibrary::open({folder() / "one", folder() / "two"});
  ASSERT_TRUE(library.ok()) << library.status().message();
  std::vector<std::string> names;
  for (const RealAttention& recording : library.value().all()) names.push_back(recording.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  ASSERT_NE(library.value().find("b"), nullptr);
  EXPECT_EQ(library.value().find("b")->name, "b");
}

TEST_F(Library, ErrorsNameTheCulprit) {
  const auto error = [this](std::string_view first, std::string_view second) {
    const auto library = TensorLibrary::open({folder() / first, folder() / second});
    EXPECT_FALSE(library.ok());
    return library.status().message();
  };
  for (const char* name : {"good", "same", "empty", "broken", "wrong"})
    fs::create_directories(folder() / name);
  ASSERT_TRUE(write_safetensors(folder() / "good/a.safetensors", square()).ok());
  ASSERT_TRUE(write_safetensors(folder() / "same/a.safetensors", square()).ok());
  ASSERT_TRUE(write_safetensors(folder() / "wrong/b.safetensors", {}).ok());
  write("broken/b.safetensors", "123");
  const std::string at = folder().string();
  EXPECT_THAT(error("good", "missing"), StartsWith(at + "/missing: cannot list the folder"));
  EXPECT_THAT(error("good", "empty"), StartsWith(at + "/empty: the folder has no *.safetensors"));
  EXPECT_EQ(error("good", "same"),
            at + "/good/a.safetensors and " + at + "/same/a.safetensors have the same name");
  EXPECT_THAT(error("good", "broken"), StartsWith(at + "/broken/b.safetensors: byte 3: "));
  EXPECT_EQ(error("good", "wrong"), at + "/wrong/b.safetensors: tensor 'q' is missing");
}

TEST_F(Library, NoFoldersGiveAnEmptyLibrary) {
  const auto library = TensorLibrary::open({});
  ASSERT_TRUE(library.ok());
  EXPECT_TRUE(library.value().all().empty());
}

}  // namespace
}  // namespace attest::tensors
