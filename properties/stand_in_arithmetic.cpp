// Stand-ins whose arithmetic is wrong: tiles, rescales, the type of P.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attest/narrow_float.hpp"
#include "properties/stand_in_reader.hpp"
#include "properties/stand_ins.hpp"

namespace attest::properties {
namespace {

/// Numerators and sum of a row; the sink is the last key.
class Sums {
 public:
  explicit Sums(const RowFacts& facts) : facts_(facts), numerator_(facts.output.size(), 0.0) {}

  void add(std::size_t j, double in_numerator, double in_sum) {
    sum_ += in_sum;
    for (std::size_t c = 0; c < numerator_.size(); ++c)
      numerator_[c] += in_numerator * facts_.value[j * numerator_.size() + c];
  }
  StandInOutput output() const {
    if (!(sum_ > 0) || !std::isfinite(sum_)) return std::nullopt;
    std::vector<double> output = numerator_;
    for (double& number : output) number /= sum_;
    return output;
  }

 private:
  const RowFacts& facts_;
  std::vector<double> numerator_;
  double sum_ = 0;
};

double weight_of(const RowFacts& facts, std::size_t j) {
  return std::exp(facts.score[j] - facts.score_max);
}

Format lower_format(Dtype dtype) {
  if (dtype == Dtype::f64) return format_of(Dtype::f32);
  return dtype == Dtype::f32 ? kBf16 : kE4m3;
}

}  // namespace

StandInOutput tile_skipped(const Case& of, const RowIndex&, const RowFacts& facts) {
  const Index visible = facts.visible_keys();
  const Index last = facts.keys[static_cast<std::size_t>(visible) - 1];
  KeyRange skipped{last, last + 1};
  for (const KeyRange& tile : all_tiles(of.tiling, of.problem.seq_kv))
    if (tile.begin <= last && last < tile.end) skipped = tile;
  Sums sums(facts);
  for (std::size_t j = 0; j < facts.keys.size(); ++j)
    if (facts.keys[j] < skipped.begin || facts.keys[j] >= skipped.end)
      sums.add(j, weight_of(facts, j), weight_of(facts, j));
  const StandInOutput output = sums.output();
  return output ? output : std::vector<double>(facts.output.size(), 0.0);
}

StandInOutput rescale_forgotten(const Case& of, const RowIndex&, const RowFacts& facts) {
  // The first rise of the maximum within a split leaves the numerator as it was.
  const auto visible = static_cast<std::size_t>(facts.visible_keys());
  for (const KeyRange& split : split_ranges(of.tiling, of.problem.seq_kv)) {
    double maximum = -std::numeric_limits<double>::infinity();
    std::size_t first = visible;
    for (const KeyRange& tile : tile_ranges(split, of.tiling.tile_kv)) {
      double next = maximum;
      std::size_t begin = visible;
      for (std::size_t j = 0; j < visible; ++j) {
        if (facts.keys[j] < tile.begin || facts.keys[j] >= tile.end) continue;
        begin = std::min(begin, j);
        next = std::max(next, facts.score[j]);
      }
      first = std::min(first, begin);
      if (std::isfinite(maximum) && next > maximum) {
        const double factor = std::exp(next - maximum);
        Sums sums(facts);
        for (std::size_t j = 0; j < facts.keys.size(); ++j)
          sums.add(j, weight_of(facts, j) * (j >= first && j < begin ? factor : 1),
                   weight_of(facts, j));
        return sums.output();
      }
      maximum = next;
    }
  }
  return std::nullopt;
}

StandInOutput weights_in_lower_type(const Case& of, const RowIndex&, const RowFacts& facts) {
  const Format format = lower_format(of.problem.out_dtype());
  Sums sums(facts);
  for (std::size_t j = 0; j < facts.keys.size(); ++j)
    sums.add(j, round_to(format, weight_of(facts, j)), weight_of(facts, j));
  return sums.output();
}

StandInOutput value_of_largest(const Case&, const RowIndex&, const RowFacts& facts) {
  const auto end = facts.score.begin() + static_cast<std::ptrdiff_t>(facts.visible_keys());
  const auto largest = std::max_element(facts.score.begin(), end) - facts.score.begin();
  const auto columns = static_cast<std::ptrdiff_t>(facts.output.size());
  const auto value = facts.value.begin() + largest * columns;
  return std::vector<double>(value, value + columns);
}

}  // namespace attest::properties
