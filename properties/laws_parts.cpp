// merge.*, continued: parts (output, lse) as they go from one kernel to another.
#include <cmath>
#include <limits>

#include "attest/partial.hpp"
#include "properties/laws.hpp"
#include "properties/merge_leaves.hpp"

namespace attest::properties {
namespace {

/// Below every finite number that stands for an empty lse somewhere (-5e4, -1e4, -3e4).
constexpr double kVerySmallLse = -60000;

template <class Real>
void same_part(Tally& tally, const Result<NormalisedRow<Real>>& got,
               const NormalisedRow<Real>& want, std::string_view reason) {
  if (!got.ok()) {
    tally.holds(false, {"lse", {}}, std::numeric_limits<double>::quiet_NaN(),
                static_cast<double>(want.lse), "a part of the declared form was refused");
    return;
  }
  tally.same_bits({"lse", {}}, static_cast<double>(got.value().lse), static_cast<double>(want.lse),
                  reason);
  for (std::size_t c = 0; c < want.output.size(); ++c)
    tally.same_bits({"out", {}, static_cast<Index>(c)}, static_cast<double>(got.value().output[c]),
                    static_cast<double>(want.output[c]), reason);
  tally.end_row();
}

/// The parts of a case in the kernel's form: one a tile, and one with a very small lse.
template <class Real>
std::vector<NormalisedRow<Real>> parts_of(const Leaves<Real>& leaves) {
  const PartForm form = leaves.ops.part_form();
  std::vector<NormalisedRow<Real>> parts;
  for (const auto& summary : leaves.all()) {
    NormalisedRow<Real> part = leaves.ops.normalise(summary);
    if (std::isfinite(part.lse)) parts.push_back(encode_part(std::move(part), form));
  }
  if (!parts.empty()) {
    parts.push_back(parts.front());
    parts.back().lse = static_cast<Real>(kVerySmallLse);
  }
  return parts;
}

template <class Real>
NormalisedRow<Real> part_without_keys(const Leaves<Real>& leaves, double lse, Real output) {
  return {static_cast<Real>(lse),
          std::vector<Real>(static_cast<std::size_t>(leaves.head_dim_v()), output)};
}

}  // namespace

Verdict merge_empty_part(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, []<class Real>(const Leaves<Real>& leaves) {
    Tally tally;
    const double empty_lse = leaves.ops.part_form().empty_lse;
    const auto stale = part_without_keys(leaves, empty_lse, std::numeric_limits<Real>::quiet_NaN());
    for (const auto& part : parts_of(leaves)) {
      same_part(tally, leaves.ops.join_parts(stale, part), part, "an empty part joined with it");
      same_part(tally, leaves.ops.join_parts(part, stale), part, "it joined with an empty part");
    }
    same_part(tally, leaves.ops.join_parts(stale, stale),
              part_without_keys(leaves, empty_lse, Real{0}),
              "two empty parts must give an empty one with output 0");
    return tally.verdict();
  });
}

Verdict merge_foreign_empty(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, []<class Real>(const Leaves<Real>& leaves) -> Verdict {
    Tally tally;
    const double infinity = std::numeric_limits<double>::infinity();
    const auto parts = parts_of(leaves);
    if (parts.empty()) return Verdict::weak("the row has no visible key");
    for (const double lse : {-infinity, infinity}) {
      if (lse == leaves.ops.part_form().empty_lse) continue;
      const auto foreign = part_without_keys(leaves, lse, Real{0});
      for (const auto& part : parts)
        for (const auto& joined :
             {leaves.ops.join_parts(foreign, part), leaves.ops.join_parts(part, foreign)})
          if (joined.ok())
            same_part(tally, joined, part, "joined with an empty part of another form");
          else
            tally.holds(true, {"lse", {}}, lse, lse, "refused");
    }
    return tally.verdict();
  });
}

}  // namespace attest::properties
