#include "properties/laws.hpp"

#include <algorithm>
#include <array>

namespace attest::properties {
namespace {

constexpr std::array kLaws{
    Law{"merge.identity", "Merging with the empty summary on either side changes no bit.",
        "merge(x, e) = merge(e, x) = x", merge_identity},
    Law{"merge.two_empties", "Two empty summaries give the empty summary, and never NaN.",
        "merge(e, e) = e = (-inf, 0, 0); output 0, lse -inf", merge_two_empties, false},
    Law{"merge.commutes", "The two sides of a merge may be exchanged without changing a bit.",
        "merge(x, y) = merge(y, x)", merge_commutes},
    Law{"merge.associates", "Both groupings of three summaries lie within the bound of the truth.",
        "|out(merge(merge(x, y), z)) - o| <= B and |out(merge(x, merge(y, z))) - o| <= B'",
        merge_associates},
    Law{"merge.any_tree",
        "Any binary tree over any permutation of the leaves lies within its bound.",
        "|out(tree) - o| <= B(depths of tree), lse alike (Theorem 3)", merge_any_tree},
    Law{"merge.rescale_range", "A rescale factor lies in [0, 1]; it is 0 for an empty part.",
        "0 <= rescale(m, m') <= 1 for m <= m'; rescale(-inf, m) = 0; rescale(m, m) = 1",
        merge_rescale_range},
    Law{"merge.row_sum_range",
        "The sum of a non-empty row lies between 1 and the number of its visible keys.",
        "1 <= row_sum <= n (1 + rounding)", merge_row_sum_range},
    Law{"merge.pairs_agree",
        "Merging normalised rows with their lse agrees with merging summaries.",
        "|merge((o1, lse1), (o2, lse2)) - normalise(merge(x1, x2))| <= B4 + B3 (Theorem 4)",
        merge_pairs_agree},
    Law{"merge.pairs_tree", "Any tree of merges of normalised rows lies within its bound.",
        "|out(tree of (o_i, lse_i)) - o| <= B4 of B4 ..., lse alike (Theorem 4, node by node)",
        merge_pairs_tree},
    Law{"merge.summary_bound",
        "A merged summary itself lies within its bound: maximum, sum and numerator.",
        "|m - M| <= Delta, |l - sum exp(s - m)| <= B_l, |a - sum exp(s - m) v| <= B_a (Theorem 3)",
        merge_summary_bound},
    Law{"tiling.tile_size", "Any tile size, from 1 to beyond the keys, lies within its bound.",
        "|out(tile) - o| <= B(tile) for tile in {1, 2, t, t + 1, n - 1, n, n + 7}",
        tiling_tile_size},
    Law{"tiling.kv_splits",
        "Any number of kv splits, more than keys and empty ones too, lies within its bound.",
        "|out(splits) - o| <= B(splits) for 1, 2, 3, n + 3 and cuts at 0, n/2, n/2, n",
        tiling_kv_splits},
    Law{"tiling.merge_order", "Any merge order of tiles or splits lies within its bound.",
        "|out(order) - o| <= B(order) for left, right, balanced and random trees",
        tiling_merge_order},
    Law{"mask.excluded_keys",
        "What k and v of an excluded key hold (NaN, infinity, 1e30) changes no bit.",
        "j not in K(i) => out(i) and lse(i) do not depend on k_j, v_j", mask_excluded_keys},
    Law{"mask.deleted_keys", "A masked row equals the row with the masked keys deleted.",
        "|out(q, k, v, mask) - out(q, k[K(i)], v[K(i)], none)| <= B + B'", mask_deleted_keys},
    Law{"mask.tables", "The visible pairs are those of tables written by hand.",
        "{j : out_j(q = 0, v = I) > 0} = table row", mask_tables, false},
    Law{"mask.visible_set", "A row gives weight to exactly its visible keys.",
        "out_j(q = 0, v = I) > 0 iff j in K(i)", mask_visible_set},
    Law{"mask.causal_prefix", "A causal row equals the row over its prefix of keys.",
        "|out_i(q, k, v) - out_i(q, k[0..p], v[0..p])| <= B + B', p = i + offset",
        mask_causal_prefix},
    Law{"empty.forward", "A row without visible keys gives exactly 0 and lse -inf.",
        "K(i) = {} => out(i) = 0, lse(i) = -inf", empty_forward},
    Law{"empty.neighbours",
        "A row that loses all its keys, at any position, gives 0 and changes no other row.",
        "out(i') has the same bits for i' != i when K(i) becomes {}", empty_neighbours},
    Law{"empty.reject", "Under policy reject the first row without visible keys is named.",
        "K(i) = {} and policy reject => error that names the first such row", empty_reject},
    Law{"symmetry.score_shift", "Adding a constant to all scores moves only the lse.",
        "s + c: |out' - out| <= B + B', |lse' - c - lse| <= B + B'", symmetry_score_shift},
    Law{"symmetry.key_permutation", "The order of the keys changes rounding only.",
        "|out(k[perm], v[perm]) - out(k, v)| <= B + B'", symmetry_key_permutation},
    Law{"symmetry.row_independence", "Another query's values change no bit of a row.",
        "out(i) does not depend on q(i') for i' != i", symmetry_row_independence},
    Law{"symmetry.head_independence", "Other heads and other batch members change no bit of a row.",
        "out(b, h) does not depend on q, k, v of (b', g') elsewhere", symmetry_head_independence},
    Law{"symmetry.constant_values", "Constant values give that constant.",
        "v = c => |out - c| <= B", symmetry_constant_values},
    Law{"symmetry.linear_values", "The output is linear in the values.",
        "|out(v) - out(v_high) - out(v_low)| <= B + B' + B'' for v = v_high + v_low exactly",
        symmetry_linear_values},
    Law{"symmetry.convex_hull", "The output lies between the least and the largest visible value.",
        "min v - B <= out <= max v + B", symmetry_convex_hull},
    Law{"symmetry.power_of_two_values",
        "Multiplying the values by a power of two multiplies the output exactly.",
        "out(32 v) = 32 out(v), same bits of lse, without underflow", symmetry_power_of_two_values},
    Law{"symmetry.duplicate_keys", "Every key twice: the same output, lse larger by ln 2.",
        "|out' - out| <= B + B', |lse' - ln 2 - lse| <= B + B'", symmetry_duplicate_keys},
    Law{"bound.out", "Every output lies within its derived bound of the exact output.",
        "|out - o| <= B (Theorems 1 and 3)", bound_out},
    Law{"bound.lse", "Every lse lies within its derived bound of the exact lse.",
        "|lse - LSE| <= B (Theorem 2)", bound_lse},
    Law{"contract.inputs_untouched", "A call changes no input.", "q, k, v have the same bits after",
        contract_inputs_untouched},
    Law{"contract.outputs_written", "A call writes every output element and nothing beside them.",
        "no poison left in out and lse, all poison left around them", contract_outputs_written},
    Law{"contract.strides", "Other strides change no bit.",
        "out(spread tensors) = out(dense tensors)", contract_strides},
    Law{"contract.repeat_bits", "The same call gives the same bits.", "out = out",
        contract_repeat_bits},
};

}  // namespace

std::span<const Law> laws() {
  return kLaws;
}

const Law* find_law(std::string_view name) {
  const auto found =
      std::find_if(kLaws.begin(), kLaws.end(), [&](const Law& law) { return law.name == name; });
  return found == kLaws.end() ? nullptr : &*found;
}

}  // namespace attest::properties
