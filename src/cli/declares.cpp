#include "cli/declares.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace attest::cli {
namespace {

constexpr std::array kMasks{Feature::window,       Feature::keep_first, Feature::prefix,
                            Feature::chunk,        Feature::segments,   Feature::block_mask,
                            Feature::additive_mask};
constexpr std::array kTerms{Feature::softcap, Feature::score_order, Feature::bias,
                            Feature::alibi,   Feature::sink,        Feature::qv};
constexpr std::array kStorage{Feature::v_is_k_view, Feature::descales,      Feature::mixed_dtypes,
                              Feature::out_dtype,   Feature::query_lengths, Feature::left_padding,
                              Feature::paged,       Feature::packed_rows};
constexpr std::array kGradients{Feature::backward, Feature::dbias, Feature::dsink, Feature::dlse};

class Declared {
 public:
  explicit Declared(const Capabilities& can) : can_(can) {}

  bool has(Feature feature) const { return can_.has(feature); }
  bool has_all(std::span<const Feature> features) const {
    return std::all_of(features.begin(), features.end(), [&](Feature one) { return has(one); });
  }
  /// ", win, keep"
  std::string names(std::span<const Feature> features) const {
    std::string text;
    for (const Feature feature : features)
      if (has(feature)) text += ", " + std::string(to_string(feature));
    return text;
  }

 private:
  const Capabilities& can_;
};

/// Without the comma that the first name of a group has.
std::string group(const std::string& names) {
  return names.empty() ? names : " | " + names.substr(2);
}

std::string masks_text(const Capabilities& can, const Declared& declared) {
  if (can.mask_bits && declared.has_all(kMasks)) return " | all masks";
  return std::string(" | causal") + (can.mask_bits ? ", bits" : "") + declared.names(kMasks);
}

std::string storage_text(const Capabilities& can, const Declared& declared) {
  if (can.key_lengths && declared.has_all(kStorage)) return " | all storage";
  return group((can.key_lengths ? ", ragged keys" : "") + declared.names(kStorage));
}

std::string order_text(const Capabilities& can) {
  switch (can.reproducible) {
    case Reproducible::no:
      break;
    case Reproducible::splits:
      return " | same bits for splits at multiples of " + std::to_string(can.leaf);
    case Reproducible::any_order:
      return " | same bits for any split and order of keys";
  }
  return {};
}

std::string lse_text(const Capabilities& can, const Declared& declared) {
  if (!can.lse) return {};
  std::string text = " | lse";
  text += can.conventions.lse_base == Conventions::LogBase::two ? " log2" : " ln";
  if (declared.has(Feature::lse_base_two)) text += ", log2";
  if (declared.has(Feature::lse_max_sum)) text += ", max_sum";
  return text;
}

std::string empty_text(const Capabilities& can, const Declared& declared) {
  std::string text = " | empty zero";
  if (can.reject) text += ", reject";
  if (declared.has(Feature::empty_nan)) text += ", nan";
  if (declared.has(Feature::empty_mean)) text += ", mean";
  if (declared.has(Feature::empty_lse)) text += ", any lse";
  return text;
}

}  // namespace

std::string declares_text(const Kernel& kernel) {
  const Capabilities& can = kernel.description().capabilities;
  const Declared declared(can);
  std::string text;
  for (const Dtype dtype : can.dtypes)
    text += (text.empty() ? "" : " ") + std::string(to_string(dtype));
  text += masks_text(can, declared);
  text += declared.has_all(kTerms) ? " | all score terms" : group(declared.names(kTerms));
  text += storage_text(can, declared);
  if (can.grouped_heads) text += " | grouped heads";
  if (can.tiles) text += can.kv_splits ? " | tiles, kv splits" : " | tiles";
  text += order_text(can);
  text += lse_text(can, declared);
  text += declared.has_all(kGradients) ? " | backward" : group(declared.names(kGradients));
  return text + empty_text(can, declared);
}

}  // namespace attest::cli
