#include "properties/gradient_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "attest/narrow_float.hpp"
#include "properties/judge.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

ModelTensor of_extents(const Extents& extents) {
  return {Tensor(Dtype::f64, extents), Tensor(Dtype::f64, extents), Tensor(Dtype::f64, extents)};
}

/// One pair of a row and a key.
struct Pair {
  Index key = 0;
  bool visible = true;
  double weight = 0;
  double ds = 0;       ///< gradient of the score
  double ds_size = 0;  ///< before anything cancels
  double slope = 1;
};

class GradientModel {
 public:
  GradientModel(const BackwardRun& run, const GradientMistake& mistake)
      : of_(run.of),
        problem_(run.of.problem),
        forward_(run.outputs.forward),
        mistake_(mistake),
        inputs_(inputs_of(run.of)),
        reader_(inputs_) {
    gradients_.parts[model_dq] = of_extents(problem_.q_extents());
    gradients_.parts[model_dk] = of_extents(problem_.k_extents());
    gradients_.parts[model_dv] = of_extents(problem_.v_extents());
    if (problem_.backward->dbias)
      gradients_.parts[model_dbias] = of_extents(problem_.bias_extents());
    if (problem_.backward->dsink)
      gradients_.parts[model_dsink] = of_extents(problem_.sink_extents());
  }

  std::optional<ModelGradients> run() {
    const Index group = problem_.heads_q / problem_.heads_kv;
    for (Index kv_head = 0; kv_head < problem_.heads_kv; ++kv_head)
      for (Index b = 0; b < problem_.batch; ++b)
        for (Index h = kv_head * group; h < (kv_head + 1) * group; ++h)
          for (Index query = 0; query < problem_.query_length(b); ++query)
            if (!add_row({b, h, query})) return std::nullopt;
    return std::move(gradients_);
  }

 private:
  bool sees_something(const RowIndex& row) const {
    return problem_.sink || !reference::visible_keys(problem_, row.batch, row.query).empty();
  }

  double dlse(const RowIndex& row) const {
    return problem_.backward->dlse ? of_.dlse.get(row.batch, row.head, row.query, 0) : 0;
  }

  /// D, and the size of its terms.
  std::pair<double, double> delta(const RowIndex& row) const {
    if (!sees_something(row)) return {0, 0};
    double product = 0;
    double size = 0;
    for (Index c = 0; c < problem_.head_dim_v; ++c) {
      const double term = of_.dout.get(row.batch, row.head, row.query, c) * forward_.at(row, c);
      product += term;
      size += std::abs(term);
    }
    const double arriving = dlse(row);
    size += std::abs(arriving);
    using Delta = GradientMistake::Delta;
    switch (mistake_.delta) {
      case Delta::none:
        return {-arriving, size};
      case Delta::without_dlse:
        return {product, size};
      case Delta::plus_dlse:
        return {product + arriving, size};
      case Delta::right:
      case Delta::of_next_row:
        break;
    }
    return {product - arriving, size};
  }

  std::pair<double, double> delta_for(const RowIndex& row) const {
    if (mistake_.delta != GradientMistake::Delta::of_next_row) return delta(row);
    return delta({row.batch, row.head, (row.query + 1) % problem_.query_length(row.batch)});
  }

  double lse_for(const RowIndex& row) const {
    RowIndex from = row;
    if (mistake_.lse_of_next_head) from.head = (row.head + 1) % problem_.heads_q;
    return forward_.lse_at(from);
  }

  KeyRange tile_of(Index key) const {
    for (const KeyRange& tile : all_tiles(of_.tiling, problem_.seq_kv))
      if (tile.begin <= key && key < tile.end) return tile;
    return {key, key + 1};
  }

  /// Keys that the row looks at; visible ones have weights in every gradient.
  std::vector<std::pair<Index, bool>> keys_of(const RowIndex& row) const {
    const auto visible = reference::visible_keys(problem_, row.batch, row.query);
    std::vector<std::pair<Index, bool>> keys;
    for (Index key = 0; key < problem_.key_length(row.batch); ++key) {
      const bool sees = std::binary_search(visible.begin(), visible.end(), key);
      const bool after = key > 0 && std::binary_search(visible.begin(), visible.end(), key - 1);
      if (sees || (mistake_.one_key_more && after)) {
        keys.emplace_back(key, true);
      } else if (mistake_.values_of_masked_keys) {
        const KeyRange tile = tile_of(key);
        const bool near = std::any_of(visible.begin(), visible.end(), [&](Index other) {
          return tile.begin <= other && other < tile.end;
        });
        if (near) keys.emplace_back(key, false);
      }
    }
    return keys;
  }

  bool takes(const RowIndex& row) const {
    using Rows = GradientMistake::Rows;
    const Index group = problem_.heads_q / problem_.heads_kv;
    const Index tile = std::min(of_.tiling.tile_q, std::max(problem_.seq_q, Index{1}));
    const Index length = problem_.query_length(row.batch);
    const Index begin = row.query / tile * tile;
    if (mistake_.rows == Rows::not_last_head_of_group)
      return group == 1 || row.head % group != group - 1;
    if (mistake_.rows == Rows::first_head_of_group_only) return row.head % group == 0;
    if (mistake_.rows == Rows::last_head_of_group_only) return row.head % group == group - 1;
    if (mistake_.rows == Rows::not_last_query_tile)
      return begin == 0 || std::min(begin + tile, length) != length;
    return true;
  }

  /// Sums of earlier tiles of queries are forgotten where a new one meets the tile of the key.
  void overwrite(const RowIndex& row) {
    const Index tile = std::min(of_.tiling.tile_q, std::max(problem_.seq_q, Index{1}));
    if (row.query % tile != 0) return;
    const Index end = std::min(row.query + tile, problem_.query_length(row.batch));
    for (const KeyRange& keys : all_tiles(of_.tiling, problem_.seq_kv)) {
      const KeyRange inside{keys.begin, std::min(keys.end, problem_.key_length(row.batch))};
      if (inside.begin >= inside.end || classify(problem_, row.batch, row.query, end, inside.begin,
                                                 inside.end) == TileClass::empty)
        continue;
      for (const ModelPart part : {model_dk, model_dv})
        for (Tensor* tensor : {&gradients_.parts[part].value, &gradients_.parts[part].magnitude,
                               &gradients_.parts[part].slack})
          for (Index key = inside.begin; key < inside.end; ++key)
            for (Index c = 0; c < tensor->extents()[3]; ++c)
              tensor->set(row.batch, problem_.kv_head(row.head), key, c, 0);
    }
  }

  std::optional<Pair> pair_of(const RowIndex& row, Index key, bool visible) const {
    std::vector<double> q;
    std::vector<double> k;
    std::vector<double> v;
    const Index kv_head = problem_.kv_head(row.head);
    const bool finite = reader_.append_query(row, q) &&
                        reader_.append_key(row.batch, kv_head, key, k) &&
                        reader_.append_value(row.batch, kv_head, key, v);
    if (!finite) return std::nullopt;
    double x = 0;
    for (std::size_t c = 0; c < q.size(); ++c) x += q[c] * k[c];
    x *= scale_value(problem_);
    double after = 0;
    for (const ScoreAddend& addend : reader_.addends(row, {key}))
      (addend.before_softcap && problem_.softcap != 0 ? x : after) += addend.value[0];
    const double cap = problem_.softcap;
    const double capped = cap == 0 ? x : cap * std::tanh(x / cap);
    Pair pair;
    pair.key = key;
    pair.visible = visible;
    pair.weight = std::exp(capped + after - lse_for(row));
    double value_dot = 0;
    double value_size = 0;
    for (std::size_t c = 0; c < v.size(); ++c) {
      const double term =
          of_.dout.get(row.batch, row.head, row.query, static_cast<Index>(c)) * v[c];
      value_dot += term;
      value_size += std::abs(term);
    }
    const auto [of_delta, delta_size] = delta_for(row);
    pair.ds = pair.weight * (value_dot - of_delta);
    pair.ds_size = pair.weight * (value_size + delta_size);
    const auto slope = [&](double score) { return 1 - (score / cap) * (score / cap); };
    using Slope = GradientMistake::Slope;
    if (cap != 0 && mistake_.slope != Slope::one)
      pair.slope = slope(mistake_.slope == Slope::of_finished   ? capped + after
                         : mistake_.slope == Slope::of_uncapped ? x
                                                                : capped);
    return std::isfinite(pair.weight) ? std::optional(pair) : std::nullopt;
  }

  double factor(GradientMistake::Factor wrong) const {
    const double scale = scale_value(problem_);
    if (wrong == GradientMistake::Factor::one) return 1;
    return wrong == GradientMistake::Factor::twice ? scale * scale : scale;
  }

  bool add_row(const RowIndex& row) {
    if (!sees_something(row)) return true;
    const auto keys = keys_of(row);
    if (mistake_.rows == GradientMistake::Rows::last_query_tile_only) overwrite(row);
    for (const auto& [key, visible] : keys) {
      const auto pair = pair_of(row, key, visible);
      if (!pair) return false;
      add_pair(row, *pair);
    }
    add_sink(row);
    return true;
  }

  void add_pair(const RowIndex& row, const Pair& pair) {
    const Index kv_head = problem_.kv_head(row.head);
    const double dx = pair.visible ? pair.ds * pair.slope : 0;
    const double dx_size = pair.visible ? pair.ds_size * std::max(1.0, std::abs(pair.slope)) : 0;
    const double of_query = factor(mistake_.query_scale);
    const double of_key = factor(mistake_.key_scale);
    for (Index c = 0; c < problem_.head_dim && pair.visible; ++c) {
      const double k = of_.k.get(row.batch, kv_head, pair.key, c);
      const double q = of_.q.get(row.batch, row.head, row.query, c);
      gradients_.parts[model_dq].add({row.batch, row.head, row.query, c}, of_query * dx * k,
                                     std::abs(of_query * dx_size * k));
      if (takes(row))
        gradients_.parts[model_dk].add({row.batch, kv_head, pair.key, c}, of_key * dx * q,
                                       std::abs(of_key * dx_size * q));
    }
    if (!takes(row)) return;
    double weight = pair.weight;
    double slack = 0;
    if (mistake_.weight_format) {
      weight = round_to(*mistake_.weight_format, pair.weight);
      const double error = pair.weight * 0x1p-18;
      slack = round_to(*mistake_.weight_format, pair.weight + error) -
              round_to(*mistake_.weight_format, pair.weight - error);
    }
    for (Index c = 0; c < problem_.head_dim_v; ++c) {
      const double dout = of_.dout.get(row.batch, row.head, row.query, c);
      gradients_.parts[model_dv].add({row.batch, kv_head, pair.key, c}, weight * dout,
                                     std::abs(weight * dout), slack * std::abs(dout));
    }
    if (problem_.backward->dbias && pair.visible) add_bias(row, pair, dx, dx_size);
  }

  void add_bias(const RowIndex& row, const Pair& pair, double dx, double dx_size) {
    const Bias& bias = *problem_.bias;
    const bool capped = problem_.order.bias_before_softcap;
    ModelTensor& to = gradients_.parts[model_dbias];
    const ModelTensor::At at{bias.per_batch ? row.batch : 0, bias.per_head ? row.head : 0,
                             bias.per_query ? row.query : 0, pair.key};
    if (mistake_.bias_of_last_row) {
      to.value.set(at.b, at.h, at.row, at.column, 0);
      to.magnitude.set(at.b, at.h, at.row, at.column, 0);
    }
    to.add(at, capped ? dx : pair.ds, capped ? dx_size : pair.ds_size);
  }

  void add_sink(const RowIndex& row) {
    if (!problem_.backward->dsink || !problem_.sink || problem_.sink->zero) return;
    const double weight = std::exp(of_.sink.get(0, row.head, 0, 0) - forward_.lse_at(row));
    const auto [of_delta, size] = delta(row);
    using Sink = GradientMistake::Sink;
    const double gradient = mistake_.sink == Sink::other_sign ? weight * of_delta
                            : mistake_.sink == Sink::without_dlse
                                ? -(weight * (of_delta + dlse(row)))
                                : -(weight * of_delta);
    gradients_.parts[model_dsink].add({0, row.head, 0, 0}, gradient, weight * size);
  }

  const Case& of_;
  const Problem& problem_;
  const Outputs& forward_;
  const GradientMistake& mistake_;
  reference::Inputs inputs_;
  reference::RowReader reader_;
  ModelGradients gradients_;
};

}  // namespace

std::optional<ModelGradients> model_gradients(const BackwardRun& run,
                                              const GradientMistake& mistake) {
  if (shares_pages(run.of.problem) || !run.outputs.forward.has_lse()) return std::nullopt;
  return GradientModel(run, mistake).run();
}

}  // namespace attest::properties
