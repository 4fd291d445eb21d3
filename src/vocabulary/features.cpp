#include <array>

#include "attest/kernel.hpp"

namespace attest {
namespace {

struct FeatureRow {
  Feature feature;
  std::string_view name;
  bool (*is_in)(const Problem&);
};

bool has_other_types(const Problem& problem) {
  return problem.k_dtype() != problem.dtype || problem.v_dtype() != problem.dtype;
}

bool orders_scores(const Problem& problem) {
  return problem.softcap != 0 && problem.order != ScoreOrder{};
}

bool has_other_empty_lse(const Problem& problem) {
  return problem.empty_lse != -std::numeric_limits<double>::infinity();
}

constexpr std::array kFeatures{
    FeatureRow{Feature::window, "win", [](const Problem& p) { return !p.mask.window.none(); }},
    FeatureRow{Feature::keep_first, "keep", [](const Problem& p) { return p.mask.keep_first > 0; }},
    FeatureRow{Feature::prefix, "prefix",
               [](const Problem& p) { return p.mask.prefix.has_value(); }},
    FeatureRow{Feature::chunk, "chunk", [](const Problem& p) { return p.mask.chunk.has_value(); }},
    FeatureRow{Feature::segments, "doc",
               [](const Problem& p) { return p.mask.segments.has_value(); }},
    FeatureRow{Feature::block_mask, "block",
               [](const Problem& p) { return p.mask.blocks.has_value(); }},
    FeatureRow{Feature::additive_mask, "add",
               [](const Problem& p) { return p.mask.additive.has_value(); }},
    FeatureRow{Feature::softcap, "cap", [](const Problem& p) { return p.softcap != 0; }},
    FeatureRow{Feature::score_order, "order", orders_scores},
    FeatureRow{Feature::bias, "bias", [](const Problem& p) { return p.bias.has_value(); }},
    FeatureRow{Feature::alibi, "alibi", [](const Problem& p) { return p.alibi.has_value(); }},
    FeatureRow{Feature::sink, "sink", [](const Problem& p) { return p.sink.has_value(); }},
    FeatureRow{Feature::qv, "qv", [](const Problem& p) { return p.qv; }},
    FeatureRow{Feature::v_is_k_view, "v=view(k)", [](const Problem& p) { return p.v_is_k_view; }},
    FeatureRow{Feature::descales, "descale",
               [](const Problem& p) { return p.descales.has_value(); }},
    FeatureRow{Feature::mixed_dtypes, "mixed dtypes", has_other_types},
    FeatureRow{Feature::out_dtype, "out dtype",
               [](const Problem& p) { return p.out_dtype() != p.dtype; }},
    FeatureRow{Feature::query_lengths, "query lengths",
               [](const Problem& p) { return !p.query_lengths.empty(); }},
    FeatureRow{Feature::left_padding, "kv=leftpad",
               [](const Problem& p) { return p.kv.kind == KvStorage::Kind::left_padded; }},
    FeatureRow{Feature::paged, "kv=paged",
               [](const Problem& p) { return p.kv.kind == KvStorage::Kind::paged; }},
    FeatureRow{Feature::packed_rows, "packed rows",
               [](const Problem& p) { return p.layout.order == Layout::Order::thd; }},
    FeatureRow{Feature::lse_base_two, "lse=log2",
               [](const Problem& p) { return p.lse == LseForm::base_two; }},
    FeatureRow{Feature::lse_max_sum, "lse=max_sum",
               [](const Problem& p) { return p.lse == LseForm::max_sum; }},
    FeatureRow{Feature::empty_nan, "empty=nan",
               [](const Problem& p) { return p.all_masked == AllMaskedPolicy::nan; }},
    FeatureRow{Feature::empty_mean, "empty=mean",
               [](const Problem& p) { return p.all_masked == AllMaskedPolicy::mean; }},
    FeatureRow{Feature::empty_lse, "lse of empty rows", has_other_empty_lse},
    FeatureRow{Feature::backward, "bwd", [](const Problem& p) { return p.backward.has_value(); }},
    FeatureRow{Feature::dbias, "dbias",
               [](const Problem& p) { return p.backward && p.backward->dbias; }},
    FeatureRow{Feature::dsink, "dsink",
               [](const Problem& p) { return p.backward && p.backward->dsink; }},
    FeatureRow{Feature::dlse, "dlse",
               [](const Problem& p) { return p.backward && p.backward->dlse; }},
};

constexpr auto kAll = [] {
  std::array<Feature, kFeatures.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kFeatures[i].feature;
  return all;
}();

}  // namespace

std::string_view to_string(Feature feature) {
  return kFeatures[static_cast<std::size_t>(feature)].name;
}

std::span<const Feature> all_features() {
  return kAll;
}

std::vector<Feature> features_of(const Problem& problem) {
  std::vector<Feature> found;
  for (const FeatureRow& row : kFeatures)
    if (row.is_in(problem)) found.push_back(row.feature);
  return found;
}

}  // namespace attest
