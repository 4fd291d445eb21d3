// What happens to a score after the scaled dot product, and the sink beside the scores.
//
//   x = scale * (q . k [+ qv . v])
//   s = T_n(... T_1(x)),  T in {softcap, + bias, + alibi, + additive mask}
//
// Additions commute in exact arithmetic, so an order only says which of them come before softcap.
#pragma once

#include <optional>
#include <vector>

#include "attest/dtype.hpp"
#include "attest/mask.hpp"
#include "attest/status.hpp"

namespace attest {

/// Which additions precede softcap(x) = cap * tanh(x / cap). Exclusion is never part of an order:
/// a key that a mask excludes stays excluded.
struct ScoreOrder {
  bool bias_before_softcap = false;
  bool alibi_before_softcap = false;
  bool mask_before_softcap = false;  ///< the finite numbers of an additive mask

  friend bool operator==(const ScoreOrder&, const ScoreOrder&) = default;
};

/// A bias tensor b(batch, head, query, key), broadcast over the axes that it does not have.
/// Its numbers are finite where a key is visible; what excludes is a mask.
struct Bias {
  bool per_batch = false;
  bool per_head = false;
  bool per_query = false;
  std::optional<Dtype> dtype;  ///< of its elements; none: the problem's compute dtype

  friend bool operator==(const Bias&, const Bias&) = default;
};

/// Attention with linear biases (Press, Smith, Lewis 2022), distance p - j with p = i + offset.
struct Alibi {
  enum class Form {
    absolute,  ///< -slope |p - j|
    relative,  ///< -slope (p - j)
    column,    ///< +slope j: the output of `relative`, lse higher by slope p
  };
  /// One f32 number a query head; none: 2^(-8 (h + 1) / H) for a power of two H, else the two
  /// interleaved sequences of the paper.
  std::vector<double> slopes;
  Form form = Form::absolute;
  Causal::Alignment alignment = Causal::Alignment::bottom_right;  ///< never explicit_offset

  friend bool operator==(const Alibi&, const Alibi&) = default;
};

/// A finite logit per query head in the denominator that has no value (its share of the output is
/// 0).
struct Sink {
  bool zero = false;   ///< the logit is 0 for every head ("off by one"); else a tensor gives it
  bool in_lse = true;  ///< whether the lse counts it

  friend bool operator==(const Sink&, const Sink&) = default;
};

/// Factors that make numbers of fp8 codes: q = descale_q * stored. f32 numbers, finite and > 0;
/// one, or one a (batch, kv head) pair, batch-major.
struct Descales {
  std::vector<double> q{1.0};
  std::vector<double> k{1.0};
  std::vector<double> v{1.0};

  friend bool operator==(const Descales&, const Descales&) = default;
};

}  // namespace attest
