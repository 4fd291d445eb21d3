// The largest error that a conforming backward kernel can make, per element of every gradient.
//
//   p_ij  = exp(s_ij - lse_i)                      D_i   = sum_c dout_ic o_ic - dlse_i
//   dP_ij = sum_c dout_ic v_jc                     ds_ij = p_ij (dP_ij - D_i)
//   dx_ij = ds_ij (1 - (c_ij / softcap)^2)         c_ij: the score after softcap, before what is
//                                                  added to it there
//   dq_i  = scale sum_j dx_ij k_j                  dk_j  = scale sum_i dx_ij q_i
//   dv_j  = sum_i p_ij dout_i                      dbias = ds,  dsink_i = -p_sink,i D_i
//
// for one kv head: the rows i are those of all query heads of its group. Without softcap dx = ds.
// Never tuned; every bound is an upper bound. Proof and assumptions: docs/numerics.md, gradients.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attest/accuracy.hpp"
#include "attest/enclosure.hpp"
#include "attest/error_bound.hpp"

namespace attest {

/// One query row with the gradients that arrive at its results; stored numbers, exact.
struct GradientRow {
  std::vector<double> q;                ///< head_dim
  std::vector<double> output_gradient;  ///< dout, head_dim_v
  double lse_gradient = 0;              ///< dlse, of the natural logarithm
  std::vector<Index> keys;              ///< the visible keys, ascending
  std::vector<ScoreAddend> addends;     ///< per visible key, in any order
  std::optional<double> sink;
};

/// All rows that see one kv head, and its keys.
struct GradientInputs {
  Index keys = 0;
  Index head_dim = 1;
  Index head_dim_v = 1;
  std::vector<double> k;  ///< keys x head_dim
  std::vector<double> v;  ///< keys x head_dim_v
  std::vector<GradientRow> rows;
  double scale = 1;
  double softcap = 0;                ///< 0: none
  bool bias_before_softcap = false;  ///< dbias is then dx, else ds
};

/// Every gradient of one kv head. A row that sees nothing and has no sink is all zero, and so is
/// whatever belongs to a masked key.
template <class Number>
struct Gradients {
  std::vector<Number> dq;     ///< rows x head_dim
  std::vector<Number> dk;     ///< keys x head_dim
  std::vector<Number> dv;     ///< keys x head_dim_v
  std::vector<Number> dbias;  ///< rows x keys: of the score, with or without a bias
  std::vector<Number> dsink;  ///< rows

  static Gradients of_size(const GradientInputs& inputs, const Number& value) {
    const auto filled = [&](std::size_t height, Index width) {
      return std::vector<Number>(height * static_cast<std::size_t>(width), value);
    };
    const std::size_t rows = inputs.rows.size();
    const auto keys = static_cast<std::size_t>(inputs.keys);
    return {filled(rows, inputs.head_dim), filled(keys, inputs.head_dim),
            filled(keys, inputs.head_dim_v), filled(rows, inputs.keys), filled(rows, 1)};
  }
  /// In the order of kGradientNames.
  std::array<const std::vector<Number>*, 5> lists() const {
    return {&dq, &dk, &dv, &dbias, &dsink};
  }
};
inline constexpr std::array kGradientNames{"dq", "dk", "dv", "dbias", "dsink"};

/// What a backward kernel declares about its own arithmetic. It recomputes p from the lse of its
/// forward pass. Symbols in brackets are those of the proof.
struct DeclaredGradientAccuracy {
  Format format = kF32;  ///< of every arithmetic operation
  Underflow underflow = Underflow::gradual;

  Index dot_roundings = 0;        ///< [h] on the longest path from q, k to a score before softcap
  Index value_dot_roundings = 0;  ///< [h_v] on the longest path in dout . v_j
  Index delta_roundings = 0;      ///< [h_D] on the longest path in dout . out
  Index softcap_roundings = 2;    ///< in cap * tanh(x / cap), beside the one of tanh
  double tanh_relative_error = 0;
  double tanh_absolute_error = 0;  ///< of tanh below the normal range
  double bias_relative_error = 0;  ///< of a bias that the kernel computes itself (ALiBi)

  ExpForm exp_form = ExpForm::natural;
  double exp_relative_error = 0;  ///< [eps] of exp (or exp2), result in the normal range
  double exp_absolute_error = 0;  ///< [eta] of exp below the normal range

  /// [A] additions on the longest path of a term: over keys in dq, over rows in dk and dv.
  /// Not given: as many as any order or tree can have.
  std::optional<Index> key_additions;
  std::optional<Index> row_additions;
  Index scale_roundings = 1;  ///< of the multiplication of dx, or of the sums, by the scale

  std::optional<Format> weight_cast;    ///< p before it multiplies dout, if it is rounded
  std::optional<Format> gradient_cast;  ///< dx before it multiplies k and q, if it is rounded
  std::optional<Format> output_format;  ///< of dq, dk and dv, where it is not `format`
  std::optional<Format> dk_format;      ///< where dk has another format than dq
  std::optional<Format> dv_format;      ///< where dv has another format than dk
};

/// What is known exactly of one visible key of one row; upper bounds of magnitudes.
struct GradientPair {
  double probability = 0;            ///< p_ij
  double log_probability = 0;        ///< |s_ij - lse_i|
  double score = 0;                  ///< |s_ij|, after softcap and addends
  double capped = 0;                 ///< |c_ij|
  double slope = 1;                  ///< 1 - (c_ij / softcap)^2
  double centred = 0;                ///< |dP_ij - D_i|
  double score_gradient = 0;         ///< |ds_ij|
  double dot_gradient = 0;           ///< |dx_ij|
  double dot_magnitude = 0;          ///< sum_c |q_ic k_jc|, before the scale
  double value_dot_magnitude = 0;    ///< sum_c |dout_ic v_jc|
  double input_magnitude = 0;        ///< sum_c (|q_ic| + |k_jc|)
  double value_input_magnitude = 0;  ///< sum_c (|dout_ic| + |v_jc|)
};

struct GradientRowFacts {
  std::vector<GradientPair> pairs;  ///< per visible key
  std::vector<Enclosure> output;    ///< o_ic
  Enclosure lse;
  double delta = 0;                 ///< |D_i|, upper bound
  double sink_probability = 0;      ///< upper bound
  double sink_log_probability = 0;  ///< |sink_i - lse_i|, upper bound
};

/// The exact gradients and all that the bound needs beside them.
struct GradientFacts {
  GradientInputs inputs;
  std::vector<GradientRowFacts> rows;
  Gradients<Enclosure> exact;
};

/// Admissible |computed - exact|, absolute, in the units of the gradient.
struct GradientBound {
  Gradients<double> limit;
  /// Why no bound can be given of some limits, which are infinite (a precondition fails); the first
  /// such reason. A limit that is finite holds.
  std::string unproven;

  bool proven() const { return unproven.empty(); }
};

/// One computed number of a sum over rows, heads or batch members.
struct GradientTerm {
  Enclosure exact;
  double limit = 0;  ///< admissible error of the computed number
};

/// Admissible error of the sum of terms in any order or tree, as a gradient of a broadcast bias or
/// of a sink is formed from the dbias or dsink of its rows. Infinite where the sum may overflow.
double gradient_sum_bound(const DeclaredGradientAccuracy& accuracy,
                          std::span<const GradientTerm> terms);

/// The bound of every gradient. `forward` bounds, per row, the output and the lse of the forward
/// pass that the kernel reads, in the format in which it reads them; rows that see nothing and
/// have no sink need none.
/// Precondition: one RowBound a row, each with head_dim_v outputs or none.
GradientBound gradient_bound(const DeclaredGradientAccuracy& accuracy, const GradientFacts& facts,
                             std::span<const RowBound> forward);

}  // namespace attest
