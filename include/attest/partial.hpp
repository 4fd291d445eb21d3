// The form in which a kernel hands out a part of a row as (output, lse), and the way back.
//
// A part that saw no key has no mass. Libraries say so in different ways: an lse of -inf, +inf, or
// a finite number that was meant to be small. Only the first can be merged as it stands: with +inf
// a weight is exp(inf - inf), and a finite number weighs as much as a real lse of its size. So the
// other ones are declared and decoded, and what was not declared is refused.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "attest/status.hpp"
#include "attest/summary.hpp"

namespace attest {

struct PartForm {
  /// lse of a part without keys: -inf, +inf or a finite number. Its output is not looked at.
  double empty_lse = -std::numeric_limits<double>::infinity();
  bool base_two = false;  ///< lse = log2 instead of ln

  friend bool operator==(const PartForm&, const PartForm&) = default;
};

/// The part with a natural lse and -inf for emptiness, which `merge` takes. A part whose lse is
/// exactly form.empty_lse is the identity, whatever its output holds.
/// Errors: invalid_argument for any other lse that is infinite or NaN, which no part can have.
template <std::floating_point Real>
Result<NormalisedRow<Real>> decode_part(const NormalisedRow<Real>& part, const PartForm& form) {
  if (part.lse == static_cast<Real>(form.empty_lse))
    return NormalisedRow<Real>::identity(static_cast<Index>(part.output.size()));
  if (!std::isfinite(part.lse))
    return invalid_argument("an lse of " + std::to_string(part.lse) +
                            " is not that of a part, nor the declared one of an empty part");
  NormalisedRow<Real> natural = part;
  if (form.base_two) natural.lse *= std::numbers::ln2_v<Real>;
  return natural;
}

/// The way out: the declared lse for an empty part, with an output of 0. A part with keys keeps a
/// finite lse, the largest or lowest number where that of base two is beyond: it is not empty.
template <std::floating_point Real>
NormalisedRow<Real> encode_part(NormalisedRow<Real> natural, const PartForm& form) {
  if (natural.is_identity())
    natural.lse = static_cast<Real>(form.empty_lse);
  else if (form.base_two && std::isfinite(natural.lse))
    natural.lse = std::clamp(natural.lse * std::numbers::log2e_v<Real>,
                             std::numeric_limits<Real>::lowest(), std::numeric_limits<Real>::max());
  return natural;
}

/// Joins two parts of one form; `merge_natural(left, right)` merges what decode_part gives. Next to
/// an empty part the other one is handed on as it is: nothing rounds it.
/// Errors: those of decode_part.
template <std::floating_point Real, class MergeNatural>
Result<NormalisedRow<Real>> join_parts(const NormalisedRow<Real>& left,
                                       const NormalisedRow<Real>& right, const PartForm& form,
                                       MergeNatural&& merge_natural) {
  const Result<NormalisedRow<Real>> natural_left = decode_part(left, form);
  if (!natural_left.ok()) return natural_left.status();
  const Result<NormalisedRow<Real>> natural_right = decode_part(right, form);
  if (!natural_right.ok()) return natural_right.status();
  const bool left_is_empty = natural_left.value().is_identity();
  const bool right_is_empty = natural_right.value().is_identity();
  if (left_is_empty != right_is_empty) return left_is_empty ? right : left;
  return encode_part(merge_natural(natural_left.value(), natural_right.value()), form);
}

}  // namespace attest
