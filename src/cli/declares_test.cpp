// The header line that says what a kernel can do.
#include "cli/declares.hpp"

#include <gtest/gtest.h>

namespace attest::cli {
namespace {

class Declaring : public Kernel {
 public:
  explicit Declaring(Capabilities can) { description_.capabilities = std::move(can); }
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem&) const override { return {}; }
  Status forward(const Problem&, const Tiling&, const ForwardViews&) const override {
    return {StatusCode::unsupported, "declares only"};
  }

 private:
  KernelDescription description_;
};

std::string text_of(Capabilities can) {
  return declares_text(Declaring(std::move(can)));
}

TEST(Declares, AKernelWithoutFeatures) {
  EXPECT_EQ(text_of({.dtypes = {Dtype::f32, Dtype::f64}}),
            "f32 f64 | causal, bits | ragged keys | grouped heads | tiles, kv splits | lse ln | "
            "empty zero, reject");
  EXPECT_EQ(text_of({.dtypes = {Dtype::f32},
                     .lse = false,
                     .tiles = false,
                     .kv_splits = false,
                     .grouped_heads = false,
                     .key_lengths = false,
                     .mask_bits = false,
                     .reject = false}),
            "f32 | causal | empty zero");
}

TEST(Declares, AKernelWithEveryFeatureSaysGroups) {
  Capabilities can{.dtypes = {kDtypes.begin(), kDtypes.end()}};
  can.features.assign(all_features().begin(), all_features().end());
  EXPECT_EQ(text_of(can),
            "f32 f64 bf16 f16 e4m3 e5m2 | all masks | all score terms | all storage | "
            "grouped heads | tiles, kv splits | lse ln, log2, max_sum | backward | "
            "empty zero, reject, nan, mean, any lse");
}

TEST(Declares, WhatNoOrderChanges) {
  EXPECT_NE(text_of({.dtypes = {Dtype::f32}, .reproducible = Reproducible::splits, .leaf = 8})
                .find("kv splits | same bits for splits at multiples of 8 | lse ln"),
            std::string::npos);
  EXPECT_NE(text_of({.dtypes = {Dtype::f32}, .reproducible = Reproducible::any_order})
                .find("kv splits | same bits for any split and order of keys | lse ln"),
            std::string::npos);
}

TEST(Declares, EveryFeatureIsSaidAlone) {
  const std::string none = text_of({.dtypes = {Dtype::f32}});
  for (const Feature feature : all_features())
    EXPECT_NE(text_of({.dtypes = {Dtype::f32}, .features = {feature}}), none) << to_string(feature);
  EXPECT_EQ(text_of({.dtypes = {Dtype::f32}, .features = {Feature::window, Feature::bias}}),
            "f32 | causal, bits, win | bias | ragged keys | grouped heads | tiles, kv splits | "
            "lse ln | empty zero, reject");
}

}  // namespace
}  // namespace attest::cli
