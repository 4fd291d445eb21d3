// A model in double of a backward pass with one step that may be wrong.
#pragma once

#include <array>
#include <optional>

#include "properties/gradient_truth.hpp"
#include "properties/run_recorder.hpp"

namespace attest::properties {

/// The steps of which one is wrong.
struct GradientMistake {
  enum class Delta { right, none, without_dlse, plus_dlse, of_next_row };
  enum class Slope { right, one, of_finished, of_uncapped };
  enum class Rows {
    all,
    not_last_head_of_group,
    first_head_of_group_only,
    last_head_of_group_only,
    not_last_query_tile,
    last_query_tile_only
  };
  enum class Factor { right, one, twice };
  enum class Sink { right, other_sign, without_dlse };

  Delta delta = Delta::right;
  Slope slope = Slope::right;
  Rows rows = Rows::all;  ///< that add to dk, dv and dbias
  Factor query_scale = Factor::right;
  Factor key_scale = Factor::right;
  Sink sink = Sink::right;
  bool lse_of_next_head = false;
  bool one_key_more = false;
  bool values_of_masked_keys = false;  ///< in tiles that the row sees a key of
  bool bias_of_last_row = false;
  std::optional<Format> weight_format = {};  ///< of weights that multiply dout
};

/// A gradient with the sum of the magnitudes of its terms, and what roundings to a narrow type may
/// change.
struct ModelTensor {
  Tensor value;
  Tensor magnitude;
  Tensor slack;

  struct At {
    Index b, h, row, column;
  };
  void add(const At& at, double number, double size, double of_rounding = 0) {
    const auto add_to = [&](Tensor& to, double more) {
      to.set(at.b, at.h, at.row, at.column, to.get(at.b, at.h, at.row, at.column) + more);
    };
    add_to(value, number);
    add_to(magnitude, size);
    if (of_rounding != 0) add_to(slack, of_rounding);
  }
};

enum ModelPart : std::size_t { model_dq, model_dk, model_dv, model_dbias, model_dsink };

struct ModelGradients {
  std::array<ModelTensor, 5> parts;  ///< by ModelPart; not asked for: no elements
};

/// What a kernel with the mistake makes of a run's results of the forward pass. Nothing where an
/// input that counts is not finite, or members share pages.
std::optional<ModelGradients> model_gradients(const BackwardRun& run,
                                              const GradientMistake& mistake);

}  // namespace attest::properties
