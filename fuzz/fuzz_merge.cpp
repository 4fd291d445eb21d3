// Merging: one row of given scores, cut into tiles and kv splits anywhere, some of them empty, and
// merged in any tree. The summaries of a kernel, its parts (output, lse) and its whole calls lie
// within their bounds of the oracle whatever the cut is.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fuzz/law_target.hpp"

using namespace attest;

namespace {

using properties::Case;
using properties::Draw;

double drawn_score(Draw& draw, double last) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::array kSpecials{0.0, -kInfinity, 88.7, -88.7, 1e4, -1e4, -6e4, 0x1p100, 1e-40};
  switch (draw.below(6)) {
    case 0:
      return static_cast<double>(draw.between(-20, 20));
    case 1:
      return last;
    case 2:
      return std::nextafter(static_cast<float>(last), 1e9F);
    case 3:
      return draw.one_of<double>(kSpecials);
    default:
      return static_cast<double>(draw.between(-2048, 2048)) / 64;
  }
}

void draw_cuts(Draw& draw, Index keys, Tiling& tiling) {
  tiling.tile_kv = draw.between(1, 5);
  for (Index cuts = draw.between(0, 5); cuts > 0; --cuts)
    tiling.splits.cuts.push_back(draw.between(0, keys));
  std::sort(tiling.splits.cuts.begin(), tiling.splits.cuts.end());
  constexpr std::array kKinds{MergeOrder::Kind::random, MergeOrder::Kind::left,
                              MergeOrder::Kind::right, MergeOrder::Kind::balanced};
  tiling.merge.kind = draw.one_of<MergeOrder::Kind>(kKinds);
  if (tiling.merge.kind == MergeOrder::Kind::random) tiling.merge.seed = draw.below(1000);
}

MaskBits drawn_bits(Draw& draw, Index keys) {
  MaskBits bits{1, keys, {}};
  bool visible = true;
  // Runs of hidden keys, so that whole parts are empty.
  for (Index key = 0; key < keys; ++key) {
    if (draw.chance(30)) visible = !visible;
    bits.visible.push_back(visible);
  }
  return bits;
}

Case draw_stream(Draw& draw, const properties::CaseLimits& limits) {
  Case drawn;
  Problem& problem = drawn.problem;
  problem.dtype = draw.one_of<Dtype>(limits.dtypes);
  // Results of another type are not about merging.
  if (is_fp8(problem.dtype)) problem.dtype = Dtype::f32;
  problem.seq_kv = draw.between(0, 16);
  problem.head_dim_v = draw.between(1, 3);
  problem.scale = {false, 1.0};
  problem.lse = limits.lse ? LseForm::natural : LseForm::none;
  if (limits.mask_bits && problem.seq_kv > 0 && draw.chance(60))
    problem.mask.bits = drawn_bits(draw, problem.seq_kv);
  if (limits.has(Feature::sink) && draw.chance(15)) problem.sink = Sink{};
  draw_cuts(draw, problem.seq_kv, drawn.tiling);
  double last = 0;
  drawn.q = properties::filled(problem.dtype, problem.q_extents(),
                               [](Index, Index, Index, Index) { return 1.0; });
  drawn.k = properties::filled(problem.dtype, problem.k_extents(), [&](Index, Index, Index, Index) {
    return last = drawn_score(draw, last);
  });
  drawn.v = properties::filled(problem.dtype, problem.v_extents(), [&](Index, Index, Index, Index) {
    return static_cast<double>(draw.between(-256, 256)) / 32;
  });
  drawn.sink = properties::filled(
      problem.compute_dtype(), problem.sink_extents(),
      [&](Index, Index, Index, Index) { return static_cast<double>(draw.between(-8, 8)); });
  if (problem.sink_extents() == Extents{}) drawn.sink = {};
  drawn.values.seed = draw.below(1000);
  becomes_literal(drawn);
  return drawn;
}

}  // namespace

const fuzz::LawTarget& fuzz::law_target() {
  static const LawTarget target{
      [](const properties::Law& law) {
        return law.name.starts_with("merge.") || law.name.starts_with("tiling.") ||
               law.name.starts_with("order.") || law.name.starts_with("bound.");
      },
      [](const Kernel& kernel) { return kernel.description().capabilities.kv_splits; },
      draw_stream};
  return target;
}
