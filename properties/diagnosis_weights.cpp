// Mistakes in the types of weights, rescale factors and outputs.
#include <array>
#include <utility>

#include "properties/diagnosis_alternatives.hpp"
#include "properties/tile_model.hpp"

namespace attest::properties {
namespace {

struct Narrow {
  Format format;
  std::string_view weights, cut_weights, output, cut_output, rescales;
};
constexpr std::array kNarrow{Narrow{kBf16, "P in bf16", "P cut to bf16", "output in bf16",
                                    "output cut to bf16", "rescale factors in bf16"},
                             Narrow{kF16, "P in f16", "P cut to f16", "output in f16",
                                    "output cut to f16", "rescale factors in f16"},
                             Narrow{kE4m3, "P in e4m3", "P cut to e4m3", "output in e4m3",
                                    "output cut to e4m3", "rescale factors in e4m3"},
                             Narrow{kE5m2, "P in e5m2", "P cut to e5m2", "output in e5m2",
                                    "output cut to e5m2", "rescale factors in e5m2"}};

TileMistake with_cast(const WeightCast& cast) {
  TileMistake mistake;
  mistake.fine = true;
  mistake.cast = cast;
  return mistake;
}

/// What a kernel that declares other weights does.
template <std::size_t which, int offset, bool sum_of_rounded>
std::optional<TileMistake> undeclared_weights(const DeclaredAccuracy& accuracy) {
  const Format& format = kNarrow[which].format;
  if (accuracy.weight_cast && accuracy.weight_cast->format == format) return std::nullopt;
  return with_cast({format, offset, sum_of_rounded});
}
template <std::size_t which, int offset, bool sum_of_rounded>
std::optional<TileMistake> cut_weights(const DeclaredAccuracy&) {
  TileMistake mistake = with_cast({kNarrow[which].format, offset, sum_of_rounded});
  mistake.cut = true;
  return mistake;
}

std::optional<TileMistake> other_sum(const DeclaredAccuracy& accuracy, bool of_rounded) {
  if (!accuracy.weight_cast || accuracy.weight_cast->sum_of_rounded == of_rounded)
    return std::nullopt;
  TileMistake mistake = with_cast(*accuracy.weight_cast);
  mistake.cast->sum_of_rounded = of_rounded;
  return mistake;
}
std::optional<TileMistake> sum_of_rounded(const DeclaredAccuracy& accuracy) {
  return other_sum(accuracy, true);
}
std::optional<TileMistake> sum_of_unrounded(const DeclaredAccuracy& accuracy) {
  return other_sum(accuracy, false);
}
std::optional<TileMistake> without_offset(const DeclaredAccuracy& accuracy) {
  if (!accuracy.weight_cast || accuracy.weight_cast->offset_log2 == 0) return std::nullopt;
  TileMistake mistake = with_cast(*accuracy.weight_cast);
  mistake.cast->offset_log2 = 0;
  return mistake;
}
std::optional<TileMistake> saturating(const DeclaredAccuracy& accuracy) {
  if (!accuracy.weight_cast) return std::nullopt;
  TileMistake mistake = with_cast(*accuracy.weight_cast);
  mistake.saturate = true;
  return mistake;
}

template <std::size_t which>
std::optional<TileMistake> undeclared_output(const DeclaredAccuracy& accuracy) {
  if (accuracy.output_format == kNarrow[which].format) return std::nullopt;
  TileMistake mistake;
  mistake.fine = true;
  mistake.output_format = kNarrow[which].format;
  return mistake;
}

std::vector<Form> all_of(std::initializer_list<TileMistakeOf> mistakes) {
  std::vector<Form> forms;
  for (const TileMistakeOf mistake : mistakes)
    for (Form& form : tile_forms(mistake)) forms.push_back(std::move(form));
  return forms;
}

template <std::size_t which>
void append_narrow(Alternatives& to) {
  const Narrow& narrow = kNarrow[which];
  to.push_back({narrow.weights, "weights are rounded before they multiply v, but not declared so",
                all_of({undeclared_weights<which, 0, false>, undeclared_weights<which, 0, true>,
                        undeclared_weights<which, 8, false>, undeclared_weights<which, 8, true>})});
  to.push_back({narrow.cut_weights, "weights are cut before they multiply v, not rounded",
                all_of({cut_weights<which, 0, false>, cut_weights<which, 0, true>,
                        cut_weights<which, 8, false>, cut_weights<which, 8, true>})});
  to.push_back({narrow.output, "the output is rounded, but not declared so",
                all_of({undeclared_output<which>})});
  TileMistake output;
  output.fine = true;
  output.output_format = narrow.format;
  output.cut_output = true;
  to.push_back(tile_alternative(narrow.cut_output, "the output is cut, not rounded", {output}));
  TileMistake rescales;
  rescales.rescale_format = narrow.format;
  TileMistake everywhere = rescales;
  everywhere.rescale_format_in_merges = true;
  to.push_back(
      tile_alternative(narrow.rescales, "rescale factors are rounded", {rescales, everywhere}));
}

}  // namespace

void append_weight_alternatives(Alternatives& to) {
  append_narrow<0>(to);
  append_narrow<1>(to);
  append_narrow<2>(to);
  append_narrow<3>(to);
  to.push_back({"sum of rounded weights", "the sum adds the weights after their rounding",
                tile_forms(sum_of_rounded)});
  to.push_back({"sum of unrounded weights", "the sum adds the weights before their rounding",
                tile_forms(sum_of_unrounded)});
  to.push_back({"P without its offset", "weights are rounded without the declared factor",
                tile_forms(without_offset)});
  to.push_back(
      {"P saturates", "weights stop at the largest number of their type", tile_forms(saturating)});
}

}  // namespace attest::properties
