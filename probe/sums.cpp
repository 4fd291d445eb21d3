// The sums over keys: how many bits they keep, and in which order keys are added.
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"
#include "probe/literal.hpp"
#include "probe/sum_shapes.hpp"

namespace attest::probe {
namespace {

using properties::Outputs;

/// log2 of the large number; every type holds it, and a unit of 2^-24 as well.
constexpr int kLargeLog2 = 14;

int largest_exponent(Dtype dtype) {
  // The mean of four units must still be a number of f16.
  return dtype == Dtype::f16 ? kLargeLog2 + 22 : 60;
}

constexpr std::array<std::array<int, 3>, 6> kOrders{
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
constexpr int kFirstExponent = 6;

/// Whether a unit beside +-2^e of itself is lost: in some order, in all of them.
struct Lost {
  bool in_some = false;
  bool in_all = true;
  bool partly = false;
};

/// One member an order of large, unit, -large; one column an exponent.
Result<Case> swamping(const Subject& subject, int sign) {
  const int last = largest_exponent(subject.dtype());
  const std::string line = "6x1:1x4:1/" + std::to_string(last - kFirstExponent + 1) + " TYPE LSE";
  return literal(subject, line,
                 {{}, {}, [sign](Index b, Index, Index key, Index column) {
                    if (key > 2) return 0.0;
                    const int at =
                        kOrders[static_cast<std::size_t>(b)][static_cast<std::size_t>(key)];
                    const double large = sign * std::ldexp(1.0, kLargeLog2);
                    const int exponent = kFirstExponent + static_cast<int>(column);
                    const double unit = std::ldexp(1.0, kLargeLog2 - exponent);
                    return at == 0 ? large : at == 1 ? unit : -large;
                  }});
}

Lost lost_at(const Outputs& got, Index column) {
  Lost lost;
  const double unit = std::ldexp(1.0, kLargeLog2 - kFirstExponent - static_cast<int>(column));
  for (Index b = 0; b < 6; ++b) {
    const double kept = got.at({b, 0, 0}, column) * 4 / unit;
    lost.partly = lost.partly || !(kept == 0 || std::abs(kept - 1) < 0x1p-6);
    (kept == 0 ? lost.in_some : lost.in_all) = kept == 0;
  }
  return lost;
}

struct Bits {
  int count = 0;  ///< 0: more than can be seen
  bool on_a_grid = false;
};

/// Nothing, with a reason, where no number of bits explains what was kept.
std::optional<Bits> bits_kept(const Outputs& got, Index columns, std::string& why) {
  Bits bits;
  for (Index column = 0; column < columns; ++column) {
    const Lost lost = lost_at(got, column);
    const int exponent = kFirstExponent + static_cast<int>(column);
    if (lost.partly) {
      why = "a unit beside 2^" + std::to_string(exponent) + " of it is neither kept nor lost";
      return std::nullopt;
    }
    if (lost.in_some && bits.count == 0) {
      bits.count = exponent;
      bits.on_a_grid = lost.in_all;
    }
    if (bits.count != 0 && (!lost.in_some || (bits.on_a_grid && !lost.in_all))) {
      why = "a unit is lost beside 2^" + std::to_string(bits.count) + " and kept beside more";
      return std::nullopt;
    }
  }
  return bits;
}

std::string said(const Bits& bits, int last) {
  if (bits.count == 0) return "more than " + std::to_string(last) + " bits";
  std::string value = std::to_string(bits.count) + " bits";
  if (bits.on_a_grid) return value + " below the largest term, in any order (a grid)";
  switch (bits.count) {
    case 24:
      return value + " (f32)";
    case 53:
      return value + " (f64)";
    case 11:
      return value + " (f16)";
    case 8:
      return value + " (bf16)";
    default:
      return value;
  }
}

std::optional<Bits> probe_bits(const Subject& subject, Found& found) {
  Finding finding = cannot_tell("sums over keys", "");
  const int last = largest_exponent(subject.dtype());
  std::optional<Bits> told;
  for (const int sign : {1, -1}) {
    const auto made = swamping(subject, sign);
    const Outputs got = made.ok() ? subject.outputs(made.value()) : Outputs{made.status()};
    if (made.ok()) finding.experiments.push_back(line_of(made.value()));
    if (!got.status.ok()) {
      found.push_back(cannot_tell(finding.name, got.status));
      return std::nullopt;
    }
    const auto bits = bits_kept(got, last - kFirstExponent + 1, finding.reason);
    if (bits && told && (bits->count != told->count || bits->on_a_grid != told->on_a_grid))
      finding.reason = "the two signs differ";
    told = bits;
    if (!finding.reason.empty()) {
      found.push_back(std::move(finding));
      return std::nullopt;
    }
  }
  finding.value = said(*told, last);
  finding.sureness = Sureness::certain;
  finding.reason = "a unit beside 2^6 to 2^" + std::to_string(last) +
                   " of it that cancels, in six orders of three keys";
  found.push_back(std::move(finding));
  return told;
}

constexpr Index kTreeKeys = 32;

/// Key `first` of member `first` is large, key c of column c takes it back, all others are units.
Result<Case> pairs(const Subject& subject, Index members, int units_log2, int sign, Index tile) {
  const std::string line =
      std::to_string(members) + "x1:1x32:1/32 TYPE LSE tile=" + std::to_string(tile);
  return literal(subject, line, {{}, {}, [=](Index b, Index, Index key, Index column) {
                                   const double large = sign * std::ldexp(1.0, kLargeLog2);
                                   if (column <= b) return 0.0;
                                   if (key == b) return large;
                                   if (key == column) return -large;
                                   return std::ldexp(1.0, units_log2);
                                 }});
}

std::optional<JoinSizes> join_sizes(const Outputs& got, int units_log2) {
  JoinSizes sizes(kTreeKeys);
  for (Index left = 0; left + 1 < kTreeKeys; ++left)
    for (Index right = left + 1; right < kTreeKeys; ++right) {
      const double kept = std::ldexp(got.at({left, 0, 0}, right) * kTreeKeys, -units_log2);
      const double whole = std::nearbyint(kept);
      if (!(std::abs(kept - whole) < 0x1p-6) || whole < 0 || whole > kTreeKeys - 2)
        return std::nullopt;
      sizes.at(left, right) = sizes.at(right, left) = kTreeKeys - static_cast<Index>(whole);
    }
  return sizes;
}

/// The shape under one tile of the call; empty with a reason where there is none.
std::string shape_of(const Subject& subject, int units_log2, Index tile, Finding& finding) {
  std::string shape;
  for (const int sign : {1, -1}) {
    const auto made = pairs(subject, kTreeKeys - 1, units_log2, sign, tile);
    const Outputs got = made.ok() ? subject.outputs(made.value()) : Outputs{made.status()};
    // All members together are too long for a line: the first one stands for them.
    const auto one = pairs(subject, 1, units_log2, sign, tile);
    if (one.ok()) finding.experiments.push_back(line_of(one.value()));
    if (!got.status.ok()) {
      finding.reason = got.status.message();
      return {};
    }
    const auto sizes = join_sizes(got, units_log2);
    const std::string name = sizes ? name_of_shape(*sizes) : "";
    if (name.empty() || (sign < 0 && name != shape)) {
      finding.reason = name.empty() ? "what is kept between two large numbers is no tree"
                                    : "the two signs show different trees";
      return {};
    }
    shape = name;
  }
  return shape;
}

void probe_tree(const Subject& subject, const Bits& bits, Found& found) {
  Finding finding = cannot_tell("order of the sums", "");
  const int units_log2 = kLargeLog2 - bits.count - 6;
  if (bits.on_a_grid)
    finding.reason = "sums on a grid have none";
  else if (bits.count == 0)
    finding.reason = "no number is large enough to swamp others";
  else if (subject.dtype() == Dtype::f16 && units_log2 < -19)
    finding.reason = "the type of v has no room for numbers that swamp others";
  if (!finding.reason.empty()) {
    found.push_back(std::move(finding));
    return;
  }
  const std::string of_eight = shape_of(subject, units_log2, 8, finding);
  const std::string of_four = of_eight.empty() ? "" : shape_of(subject, units_log2, 4, finding);
  if (!of_four.empty()) {
    finding.value = of_eight == of_four ? of_eight : of_eight + " where tile=8 is asked";
    finding.sureness = Sureness::certain;
    finding.reason = "what 2^" + std::to_string(bits.count + 6) +
                     " units swamp before they cancel, all pairs of 32 keys";
    if (of_eight != of_four) finding.reason += "; tile=4: " + of_four;
  }
  found.push_back(std::move(finding));
}

}  // namespace

void probe_sums(Subject& subject, Found& found) {
  if (is_fp8(subject.dtype())) {
    found.push_back(cannot_tell("sums over keys", "the kernel takes no wider type than fp8"));
    return;
  }
  const auto bits = probe_bits(subject, found);
  if (!bits) return;
  if (!bits->on_a_grid) subject.arithmetic().sum_bits = bits->count;
  probe_tree(subject, *bits, found);
}

}  // namespace attest::probe
