#include "properties/tile_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "properties/tile_summary.hpp"

namespace attest::properties {
namespace {

class TileModel {
 public:
  TileModel(const DiagnosedRun& run, const RowFacts& facts, const TileMistake& mistake,
            double weight_error)
      : run_(run), facts_(facts), mistake_(mistake), weight_error_(weight_error) {
    cast_ = mistake.cast   ? mistake.cast
            : mistake.fine ? run.accuracy().weight_cast
                           : std::optional<WeightCast>();
    tile_ = run.tiling().tile_kv;
    const Index longest = run.accuracy().longest_tile;
    if (longest > 0) tile_ = std::min(tile_, longest);
  }

  std::optional<ModelSummary> row(SummaryScope scope) const {
    const std::vector<KeyRange> units = units_of(run_, scope);
    auto tree = make_merge_tree(run_.tiling().merge, static_cast<Index>(units.size()));
    if (!tree.ok()) return std::nullopt;
    ModelSummary whole = evaluate(
        tree.value(), [&](Index unit) { return of_unit(units[static_cast<std::size_t>(unit)]); },
        [&](const ModelSummary& left, const ModelSummary& right) { return merged(left, right); });
    return whole;
  }
  ModelSummary with_sink(const ModelSummary& keys) const {
    if (!facts_.has_sink()) return keys;
    ModelSummary sink = identity();
    sink.maximum = facts_.score.back();
    sink.sum = 1;
    return merged(keys, sink);
  }

 private:
  ModelSummary identity() const {
    return {kMinusInfinity, 0, 0, std::vector<ModelColumn>(facts_.output.size())};
  }

  ModelSummary of_unit(const KeyRange& unit) const {
    std::vector<KeyRange> tiles = tile_ranges(unit, tile_);
    using Tiles = TileMistake::Tiles;
    const KeyRange last = tiles.back();
    if (mistake_.tiles == Tiles::no_partial && last.end - last.begin < tile_) tiles.pop_back();
    if (mistake_.tiles == Tiles::no_last) tiles.pop_back();
    if (mistake_.tiles == Tiles::no_first) tiles.erase(tiles.begin());
    ModelSummary summary = identity();
    for (const KeyRange& tile : tiles) absorb(summary, tile);
    return summary;
  }

  void absorb(ModelSummary& summary, const KeyRange& tile) const {
    const auto visible = facts_.keys.begin() + static_cast<std::ptrdiff_t>(facts_.visible_keys());
    const auto begin = std::lower_bound(facts_.keys.begin(), visible, tile.begin);
    const auto end = std::lower_bound(begin, visible, tile.end);
    if (begin == end) return;
    const auto first = static_cast<std::size_t>(begin - facts_.keys.begin());
    const auto after = static_cast<std::size_t>(end - facts_.keys.begin());
    double tile_max = kMinusInfinity;
    for (std::size_t j = first; j < after; ++j) tile_max = std::max(tile_max, facts_.score[j]);
    raise(summary, next_maximum(summary.maximum, tile_max), tile_max);
    for (std::size_t j = first; j < after; ++j) add(summary, j);
    if (mistake_.sum_lacks_last_key && after - first > 1)
      summary.sum -= std::exp(facts_.score[after - 1] - summary.maximum);
  }

  double next_maximum(double maximum, double tile_max) const {
    if (mistake_.maximum == TileMistake::Maximum::of_last_tile) return tile_max;
    const double lag = run_.accuracy().lag_log2 * std::numbers::ln2;
    const bool waits = mistake_.rescale != TileMistake::Rescale::not_while_lagging;
    if (waits && tile_max - maximum <= lag) return maximum;
    return std::max(maximum, tile_max);
  }

  void raise(ModelSummary& summary, double maximum, double tile_max) const {
    using Rescale = TileMistake::Rescale;
    const double lag = run_.accuracy().lag_log2 * std::numbers::ln2;
    const bool lags =
        mistake_.rescale == Rescale::not_while_lagging && tile_max - summary.maximum <= lag;
    if (!summary.nothing() && maximum != summary.maximum && !lags) {
      double factor = std::exp(summary.maximum - maximum);
      if (mistake_.rescale_format) factor = round_to(*mistake_.rescale_format, factor);
      const bool sum = mistake_.rescale != Rescale::not_sum && mistake_.rescale != Rescale::neither;
      const bool numerator =
          mistake_.rescale != Rescale::not_numerator && mistake_.rescale != Rescale::neither;
      if (sum) summary.sum *= factor, summary.sum_slack *= factor;
      for (ModelColumn& column : summary.columns)
        if (numerator) column.scale(factor);
    }
    summary.maximum = maximum;
  }

  void add(ModelSummary& summary, std::size_t j) const {
    const double weight = std::exp(facts_.score[j] - summary.maximum);
    ModelRounding narrow{weight, 0};
    if (cast_) {
      const double offset = std::ldexp(1.0, cast_->offset_log2);
      narrow = in_format(cast_->format, weight * offset, weight * offset * weight_error_,
                         mistake_.cut, mistake_.saturate);
      narrow = {narrow.value / offset, narrow.slack / offset};
      // A weight of 1 comes of a difference of 0, and is exact.
      if (weight == 1) narrow.slack = 0;
    }
    const bool rounded_sum = cast_ && cast_->sum_of_rounded;
    summary.sum += rounded_sum ? narrow.value : weight;
    if (rounded_sum) summary.sum_slack += narrow.slack;
    const std::size_t columns = summary.columns.size();
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = facts_.value[j * columns + c];
      ModelColumn& column = summary.columns[c];
      column.value += narrow.value * value;
      column.magnitude += std::abs(narrow.value * value);
      column.slack += narrow.slack * std::abs(value);
    }
  }

  ModelSummary merged(const ModelSummary& left, const ModelSummary& right) const {
    using Merge = TileMistake::Merge;
    if (mistake_.merge == Merge::larger_side) return left.maximum < right.maximum ? right : left;
    if (left.nothing()) return right;
    if (right.nothing()) return left;
    ModelSummary whole = identity();
    whole.maximum = std::max(left.maximum, right.maximum);
    const auto factor_of = [&](const ModelSummary& side) {
      if (mistake_.merge == Merge::no_rescale) return 1.0;
      const double by = side.maximum - whole.maximum;
      const double factor = std::exp(mistake_.rescale == TileMistake::Rescale::inverted ? -by : by);
      return mistake_.rescale_format_in_merges ? round_to(*mistake_.rescale_format, factor)
                                               : factor;
    };
    for (const ModelSummary* const side : {&left, &right}) {
      const double factor = factor_of(*side);
      const bool carries = side == &right && mistake_.merge == Merge::right_sum_times_256;
      whole.sum += factor * side->sum * (carries ? 256 : 1);
      whole.sum_slack += factor * side->sum_slack;
      for (std::size_t c = 0; c < whole.columns.size(); ++c)
        whole.columns[c].add(side->columns[c], factor);
    }
    if (mistake_.merge != Merge::average) return whole;
    for (std::size_t c = 0; c < whole.columns.size(); ++c) {
      whole.columns[c] = {};
      for (const ModelSummary* const side : {&left, &right})
        whole.columns[c].add(side->columns[c], whole.sum / side->sum / 2);
    }
    return whole;
  }

  const DiagnosedRun& run_;
  const RowFacts& facts_;
  const TileMistake& mistake_;
  double weight_error_;
  std::optional<WeightCast> cast_;
  Index tile_ = 1;
};

Expected expected_output(const DiagnosedRun& run, const TileMistake& mistake,
                         const ModelSummary& whole, const ModelColumn& column, double share,
                         double own_bound) {
  const auto terms = static_cast<double>(run.problem().seq_kv + 16);
  const double size = column.magnitude / whole.sum;
  Expected expected;
  expected.value.high = column.value / whole.sum;
  const double of_sum = whole.sum_slack / whole.sum * std::abs(expected.value.high);
  expected.bound =
      2 * share * size + own_bound + column.slack / whole.sum + of_sum + terms * 0x1p-52 * size;
  const std::optional<Format> format = mistake.output_format ? mistake.output_format
                                       : mistake.fine        ? run.accuracy().output_format
                                                             : std::optional<Format>();
  if (!format) return expected;
  const ModelRounding rounded =
      in_format(*format, expected.value.high, expected.bound, mistake.cut_output, false);
  expected.value.high = rounded.value;
  expected.bound = rounded.slack;
  return expected;
}

}  // namespace

std::vector<KeyRange> units_of(const DiagnosedRun& run, SummaryScope scope) {
  const Index keys = run.problem().seq_kv;
  if (scope == SummaryScope::row) return {{0, keys}};
  return scope == SummaryScope::tile ? all_tiles(run.tiling(), keys)
                                     : split_ranges(run.tiling(), keys);
}

double share_of_magnitude(const RowFacts& facts, const RowBound& bound) {
  double share = 0;
  for (std::size_t c = 0; c < facts.output.size(); ++c) {
    const double magnitude = value_magnitude(facts, c);
    // Of a column that is next to nothing the bound is that of underflow.
    if (magnitude > 0x1p-90) share = std::max(share, bound.output[c] / magnitude);
  }
  return share;
}

std::optional<RowPrediction> model_row(const DiagnosedRun& run, const RowIndex& row,
                                       const TileMistake& mistake, SummaryScope scope) {
  const auto& exact = run.truth(row);
  if (!exact) return std::nullopt;
  const RowFacts& facts = exact->facts;
  if (run.is_empty(row) || facts.visible_keys() == 0) return run.right(row);
  const RowBound bound = mistake.fine ? run.fine_bound(facts) : exact->bound;
  if (!bound.proven()) return std::nullopt;
  const double share = share_of_magnitude(facts, bound);
  const TileModel model(run, facts, mistake, share);
  const auto keys = model.row(scope);
  if (!keys) return std::nullopt;
  const ModelSummary whole = model.with_sink(*keys);
  if (!(whole.sum > 0) || !std::isfinite(whole.sum)) {
    // Every key was left out: zeros, as for a row that sees nothing.
    if (whole.sum != 0) return std::nullopt;
    RowPrediction nothing;
    nothing.output.assign(facts.output.size(), Expected{});
    if (exact->asked_lse)
      nothing.lse = Expected{Expected::Kind::number, {kMinusInfinity, 0, 0}, 0, {}};
    return nothing;
  }
  RowPrediction prediction;
  for (std::size_t c = 0; c < facts.output.size(); ++c)
    prediction.output.push_back(
        expected_output(run, mistake, whole, whole.columns[c], share, bound.output[c]));
  if (!exact->asked_lse) return prediction;
  const ModelSummary& in_lse = run.problem().sink && !run.problem().sink->in_lse ? *keys : whole;
  if (!(in_lse.sum > 0)) return std::nullopt;
  const bool base_two = run.problem().lse == LseForm::base_two;
  const double unit = base_two ? std::numbers::log2e : 1;
  const double lse = (in_lse.maximum + std::log(in_lse.sum)) * unit;
  const double own = base_two ? bound.lse_base_two : bound.lse;
  prediction.lse =
      Expected{Expected::Kind::number,
               {lse, 0, 0},
               2 * std::max(own, exact->asked_lse_bound) + in_lse.sum_slack / in_lse.sum * unit +
                   std::abs(lse) * (0x1p-50 + 4 * run.accuracy().format.unit_roundoff),
               {}};
  return prediction;
}

namespace {

constexpr SummaryScope kScopes[] = {SummaryScope::split, SummaryScope::tile, SummaryScope::row};

Predictor predictor(const DiagnosedRun& run, const TileMistake& mistake, SummaryScope scope) {
  return
      [&run, mistake, scope](const RowIndex& row) { return model_row(run, row, mistake, scope); };
}

}  // namespace

std::vector<Form> tile_forms(const TileMistake& mistake) {
  std::vector<Form> forms;
  for (const SummaryScope scope : kScopes)
    forms.push_back(
        {[mistake, scope](const DiagnosedRun& run) { return predictor(run, mistake, scope); }});
  return forms;
}

std::vector<Form> tile_forms(TileMistakeOf mistake) {
  std::vector<Form> forms;
  for (const SummaryScope scope : kScopes)
    forms.push_back({[mistake, scope](const DiagnosedRun& run) -> Predictor {
      const auto made = mistake(run.accuracy());
      return made ? predictor(run, *made, scope) : nullptr;
    }});
  return forms;
}

Alternative tile_alternative(std::string_view name, std::string_view sentence,
                             const std::vector<TileMistake>& mistakes) {
  Alternative alternative{name, sentence, {}, false};
  for (const TileMistake& mistake : mistakes)
    for (Form& form : tile_forms(mistake)) alternative.forms.push_back(std::move(form));
  return alternative;
}

}  // namespace attest::properties
