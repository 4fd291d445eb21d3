// Attention problems recorded from real models: q, k, v and what the model itself computed.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attest/problem.hpp"
#include "attest/tensor.hpp"
#include "tensors/safetensors.hpp"

namespace attest::tensors {

/// One recording. The tensors have the extents that `problem` says and are dense in bshd order.
struct RealAttention {
  std::string name;  ///< the file's name without folder and extension
  Problem problem;   ///< batch 1, lse natural, all_masked zero; validate() accepts it
  Tensor q;
  Tensor k;
  Tensor v;
  std::optional<Tensor> model_output;  ///< o, rounded as the model's own runtime rounded it
  std::map<std::string, std::string> metadata;
};

/// Makes a problem out of a file's tensors, all of one dtype and of rank 2 or all of rank 3:
///
///   q (Tq, d) or (heads_q, Tq, d)        k (Tk, d) or (heads_kv, Tk, d)
///   o as q, with v's last extent         v (Tk, dv) or (heads_kv, Tk, dv); o may be missing
///   bias (1, Tk), may be missing
///
/// metadata "scale": a finite number, missing: 1 / sqrt(d). metadata "causal": "true" or "false",
/// missing: false; the corner is top_left where Tq = Tk and bottom_right elsewhere.
///
/// A bias is read as a mask: below -1e8 (-inf included) the key is excluded, 0 and -0.0 leave it
/// visible. For a row with a visible key that is what adding such a bias amounts to, since the
/// exponential is then 0; a row without one becomes an all-masked row.
///
/// StatusCode::invalid_argument, the message beginning with `name`, for anything else: another
/// tensor, shape, dtype, metadata value or bias value.
Result<RealAttention> to_attention(const SafetensorsFile& file, std::string name);

/// All recordings of some folders. Never changes after open(), so threads may share one.
class TensorLibrary {
 public:
  /// Reads every *.safetensors directly inside the folders. An error names the folder that is
  /// missing or has no such file, the file that cannot be used, or the two of the same stem.
  static Result<TensorLibrary> open(const std::vector<std::filesystem::path>& folders);

  /// Sorted by name.
  std::span<const RealAttention> all() const { return recordings_; }
  /// The recording of that name, or null.
  const RealAttention* find(std::string_view name) const;

 private:
  explicit TensorLibrary(std::vector<RealAttention> recordings)
      : recordings_(std::move(recordings)) {}

  std::vector<RealAttention> recordings_;
};

}  // namespace attest::tensors
