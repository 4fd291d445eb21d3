// Where the running maximum is taken over: the keys of a tile, and how far it lags.
//
// The weight of a key is exp(s - m) under the maximum m of its tile, and is multiplied by a factor
// where a later tile has a larger one. Two roundings in place of one show in the last bits.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "attest/random.hpp"
#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"
#include "probe/literal.hpp"

namespace attest::probe {
namespace {

using properties::Outputs;

constexpr Index kKeys = 272;
constexpr Index kRows = 16;

/// Scores of the keys that stand out, per row; everything else has no weight beside them.
struct Scores {
  std::vector<double> early, late;
  double none = 0;
};

/// How far apart scores are such that the sum rounds to 1.
Scores scores(Dtype dtype) {
  const double apart = dtype == Dtype::f64 ? 40 : dtype == Dtype::f16 ? 9 : 20;
  Scores made;
  made.none = dtype == Dtype::f64 ? -1000 : -240;
  SplitMix64 random(7);
  for (Index row = 0; row < kRows; ++row) {
    const double early = static_cast<double>(64 + random.below(64)) / 64;
    made.early.push_back(early);
    made.late.push_back(apart + static_cast<double>(random.below(16)) / 4);
  }
  return made;
}

/// Keys `first` and the one after it have the early scores 0 and a; key `late` has the largest.
/// One member a key of `late`, from `late_begin` on.
struct Places {
  Index first = 0;
  Index late_begin = 0;
  Index members = 1;
  Index tile = 16;
};

Result<Case> made_of(const Subject& subject, const Places& places) {
  const Scores scored = scores(subject.dtype());
  const std::string line = std::to_string(places.members) +
                           "x1:16x272:3/1 TYPE LSE scale=1 tile=" + std::to_string(places.tile);
  return literal(subject, line,
                 {[&](Index, Index, Index row, Index c) {
                    const auto at = static_cast<std::size_t>(row);
                    return c == 0 ? scored.early[at] : c == 1 ? scored.late[at] : scored.none;
                  },
                  [&](Index b, Index, Index key, Index c) {
                    if (key == places.first) return 0.0;
                    if (key == places.first + 1) return c == 0 ? 1.0 : 0.0;
                    if (key == places.late_begin + b) return c == 1 ? 1.0 : 0.0;
                    return c == 2 ? 1.0 : 0.0;
                  },
                  [&](Index, Index, Index key, Index) {
                    return key == places.first ? std::ldexp(1.0, 14) : 0.0;
                  }});
}

bool same_row(const Outputs& got, Index left, Index right) {
  for (Index row = 0; row < kRows; ++row)
    if (got.at({left, 0, row}, 0) != got.at({right, 0, row}, 0)) return false;
  return true;
}

/// Keys at which the bits of the early key's share change.
struct Steps {
  std::vector<Index> at;
  Status status;
};

Steps steps(const Subject& subject, Index first, Index tile) {
  Places places{first, first + 2, kKeys - first - 2, tile};
  Steps found;
  const auto made = made_of(subject, places);
  const Outputs got = made.ok() ? subject.outputs(made.value()) : Outputs{made.status()};
  found.status = got.status;
  if (!found.status.ok()) return found;
  for (Index row = 0; row < kRows; ++row)
    if (!(got.at({0, 0, row}, 0) > 0))
      found.status = {StatusCode::undecided,
                      "the weight of an early key is lost beside a late one"};
  if (!found.status.ok()) return found;
  for (Index member = 1; member < places.members; ++member)
    if (!same_row(got, member - 1, member)) found.at.push_back(places.late_begin + member);
  return found;
}

std::string listed(const std::vector<Index>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size() && i < 6; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  return numbers.size() > 6 ? text + ", ..." : text;
}

void add_experiments(const Subject& subject, Index first, Index tile, Index step,
                     Finding& finding) {
  for (const Index late : {step - 1, step}) {
    const auto made = made_of(subject, {first, std::max(late, first + 2), 1, tile});
    if (made.ok()) finding.experiments.push_back(line_of(made.value()));
  }
}

struct TileFound {
  Index keys = 0;  ///< 0: no step
  std::string why;
};

/// Keys of a tile where the call asks for `tile`.
TileFound tile_of(const Subject& subject, Index tile, Finding& finding) {
  TileFound found;
  const Steps from_start = steps(subject, 0, tile);
  if (!from_start.status.ok()) {
    found.why = from_start.status.message();
    return found;
  }
  if (from_start.at.empty()) {
    add_experiments(subject, 0, tile, kKeys - 1, finding);
    return found;
  }
  const Index size = from_start.at.front();
  add_experiments(subject, 0, tile, size, finding);
  if (from_start.at.size() > 1) {
    found.why = "last bits change at keys " + listed(from_start.at);
    return found;
  }
  if (2 * size + 2 < kKeys) {
    const Steps from_next = steps(subject, size, tile);
    if (!from_next.status.ok() || from_next.at != std::vector<Index>{2 * size}) {
      found.why = "last bits change at key " + std::to_string(size) + ", but from there on at " +
                  (from_next.at.empty() ? std::string("no key") : listed(from_next.at));
      return found;
    }
    add_experiments(subject, size, tile, 2 * size, finding);
  }
  found.keys = size;
  return found;
}

/// Whether the output has fewer bits than the arithmetic.
bool hides_last_bits(const Subject& subject) {
  return subject.arithmetic().output || compute_dtype(subject.dtype()) != subject.dtype();
}

constexpr Index kLags = 33;
/// How far the largest score rises, in log2 units: between the round numbers that kernels take.
double rise(Index row) {
  return 0.25 + 0.5 * static_cast<double>(row);
}
/// Up to this row no weight makes half of the largest power of two infinite.
constexpr Index kStillFinite = 1;

/// The largest row whose output is infinite; 0: none. Nothing where a smaller one is finite.
std::optional<Index> last_infinite(const Outputs& got) {
  Index last = 0;
  for (Index row = 0; row < kLags; ++row)
    if (!std::isfinite(got.at({0, 0, row}, 0))) last = row;
  for (Index row = 0; row <= last && last > 0; ++row)
    if (std::isfinite(got.at({0, 0, row}, 0)) != (row <= kStillFinite)) return std::nullopt;
  return last;
}

/// A value near the largest number under a score above the first tile's maximum: a weight beyond 1
/// makes it infinite.
Result<Case> overflowing(const Subject& subject, double sign) {
  const bool wide = subject.dtype() == Dtype::f64;
  return literal(subject, "1x1:33x272:1 TYPE LSE scale=1",
                 {[](Index, Index, Index row, Index) { return rise(row) * std::numbers::ln2; },
                  [](Index, Index, Index key, Index) { return key == kKeys - 1 ? 1.0 : 0.0; },
                  [=](Index, Index, Index key, Index) {
                    return key == kKeys - 1 ? sign * std::ldexp(1.0, wide ? 1023 : 127) : 0.0;
                  }});
}

void probe_lag(const Subject& subject, Found& found) {
  Finding finding = cannot_tell("lag of the maximum", "");
  const bool wide = subject.dtype() == Dtype::f64;
  if (subject.dtype() == Dtype::f16 || is_fp8(subject.dtype()))
    finding.reason = "the type of v has no number that would overflow";
  else if (subject.arithmetic().sum_bits != (wide ? 53 : 24))
    finding.reason = "sums over keys may have a larger range than v";
  if (!finding.reason.empty()) return found.push_back(std::move(finding));
  std::optional<Index> last;
  for (const double sign : {1.0, -1.0}) {
    const auto made = overflowing(subject, sign);
    const Outputs got = made.ok() ? subject.outputs(made.value()) : Outputs{made.status()};
    if (!got.status.ok()) return found.push_back(cannot_tell(finding.name, got.status));
    finding.experiments.push_back(line_of(made.value()));
    const auto of_sign = last_infinite(got);
    if (!of_sign || *of_sign + 1 == kLags || (last && *last != *of_sign)) {
      finding.reason = "outputs near the largest number are infinite beside any maximum";
      return found.push_back(std::move(finding));
    }
    last = of_sign;
  }
  finding.sureness = Sureness::likely;
  finding.value = *last == 0 ? "none above 1: it rises at once, or is known beforehand"
                             : "between " + number_text(rise(*last), Dtype::f32) + " and " +
                                   number_text(rise(*last + 1), Dtype::f32) + " log2 units";
  finding.reason = "a weight above 1 would make a value near the largest number infinite";
  found.push_back(std::move(finding));
}

}  // namespace

void probe_tiles(const Subject& subject, Found& found) {
  Finding finding = cannot_tell("kv tile", "");
  if (is_fp8(subject.dtype())) {
    found.push_back(cannot_tell("kv tile", "the kernel takes no wider type than fp8"));
    return;
  }
  const TileFound one = tile_of(subject, 16, finding);
  const TileFound other = one.why.empty() ? tile_of(subject, 24, finding) : one;
  finding.reason = one.why.empty() ? other.why : one.why;
  if (finding.reason.empty() && one.keys == 0 && hides_last_bits(subject))
    finding.reason = "no last bit changes, but outputs are rounded, which may hide it";
  if (finding.reason.empty()) {
    finding.sureness = Sureness::likely;
    const auto said = [](const TileFound& tile) {
      return tile.keys == 0 ? "no step in " + std::to_string(kKeys) + " keys"
                            : std::to_string(tile.keys) + " keys";
    };
    finding.value = said(one);
    if (one.keys == 16 && other.keys == 24)
      finding.value = "as the call asks";
    else if (one.keys != other.keys)
      finding.value = said(one) + " where tile=16 is asked, " + said(other) + " for tile=24";
    finding.reason = one.keys == 0
                         ? "last bits are the same wherever the largest score stands: one maximum "
                           "for all keys, a tile beyond them, or one key a tile"
                         : "last bits of an early key change where the largest score enters the "
                           "next tile";
  }
  found.push_back(std::move(finding));
  probe_lag(subject, found);
}

}  // namespace attest::probe
