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
    FeatureRow{Feature::window, "windows", [](const Problem& p) { return !p.mask.window.none(); }},
    FeatureRow{Feature::keep_first, "first tokens that a window keeps",
               [](const Problem& p) { return p.mask.keep_first > 0; }},
    FeatureRow{Feature::prefix, "a prefix beside causal",
               [](const Problem& p) { return p.mask.prefix.has_value(); }},
    FeatureRow{Feature::chunk, "chunks", [](const Problem& p) { return p.mask.chunk.has_value(); }},
    FeatureRow{Feature::segments, "documents",
               [](const Problem& p) { return p.mask.segments.has_value(); }},
    FeatureRow{Feature::block_mask, "block-sparse masks",
               [](const Problem& p) { return p.mask.blocks.has_value(); }},
    FeatureRow{Feature::additive_mask, "additive masks",
               [](const Problem& p) { return p.mask.additive.has_value(); }},
    FeatureRow{Feature::softcap, "softcap", [](const Problem& p) { return p.softcap != 0; }},
    FeatureRow{Feature::score_order, "additions before softcap", orders_scores},
    FeatureRow{Feature::bias, "a bias", [](const Problem& p) { return p.bias.has_value(); }},
    FeatureRow{Feature::alibi, "ALiBi", [](const Problem& p) { return p.alibi.has_value(); }},
    FeatureRow{Feature::sink, "a sink", [](const Problem& p) { return p.sink.has_value(); }},
    FeatureRow{Feature::qv, "a qv term", [](const Problem& p) { return p.qv; }},
    FeatureRow{Feature::v_is_k_view, "v as a view of k",
               [](const Problem& p) { return p.v_is_k_view; }},
    FeatureRow{Feature::descales, "descales",
               [](const Problem& p) { return p.descales.has_value(); }},
    FeatureRow{Feature::mixed_dtypes, "q, k and v of different types", has_other_types},
    FeatureRow{Feature::out_dtype, "an output of another type than q",
               [](const Problem& p) { return p.out_dtype() != p.dtype; }},
    FeatureRow{Feature::query_lengths, "query lengths per batch member",
               [](const Problem& p) { return !p.query_lengths.empty(); }},
    FeatureRow{Feature::left_padding, "left padding",
               [](const Problem& p) { return p.kv.kind == KvStorage::Kind::left_padded; }},
    FeatureRow{Feature::paged, "paged k and v",
               [](const Problem& p) { return p.kv.kind == KvStorage::Kind::paged; }},
    FeatureRow{Feature::packed_rows, "packed rows (thd)",
               [](const Problem& p) { return p.layout.order == Layout::Order::thd; }},
    FeatureRow{Feature::lse_base_two, "an lse to base two",
               [](const Problem& p) { return p.lse == LseForm::base_two; }},
    FeatureRow{Feature::lse_max_sum, "the lse as maximum and sum",
               [](const Problem& p) { return p.lse == LseForm::max_sum; }},
    FeatureRow{Feature::empty_nan, "the policy nan",
               [](const Problem& p) { return p.all_masked == AllMaskedPolicy::nan; }},
    FeatureRow{Feature::empty_mean, "the policy mean",
               [](const Problem& p) { return p.all_masked == AllMaskedPolicy::mean; }},
    FeatureRow{Feature::empty_lse, "any lse of an empty row", has_other_empty_lse},
    FeatureRow{Feature::backward, "backward",
               [](const Problem& p) { return p.backward.has_value(); }},
    FeatureRow{Feature::dbias, "dbias",
               [](const Problem& p) { return p.backward && p.backward->dbias; }},
    FeatureRow{Feature::dsink, "dsink",
               [](const Problem& p) { return p.backward && p.backward->dsink; }},
    FeatureRow{Feature::dlse, "gradients through the lse",
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
