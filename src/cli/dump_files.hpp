// The files of a dump: tensors of one attention call that somebody wrote, and the problem text
// that says what they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attest/status.hpp"
#include "tensors/npy.hpp"
#include "tensors/safetensors.hpp"

namespace attest::cli {

/// One tensor as its file has it. Bits of an npy file may have no type yet.
struct DumpedTensor {
  std::string name;  ///< of the problem text: "q", "out"
  std::string file;
  std::variant<tensors::Entry, tensors::NpyArray> content;

  const std::vector<Index>& shape() const;
  std::optional<Dtype> dtype() const;
};

struct DumpFiles {
  std::string label;    ///< what was named first, for messages
  std::string problem;  ///< empty: none of the places has a text
  std::string problem_source;
  std::vector<DumpedTensor> tensors;

  /// Null where the dump has no tensor of that name.
  const DumpedTensor* find(std::string_view name) const;
};

/// Reads safetensors and npy files, and folders of such (not what is below them). An npy file has
/// the tensor of its stem. The problem is that of `given` if it is not empty; else that of the
/// metadata (key "problem") or of a side file: problem.txt in the folder, FILE.txt beside FILE.EXT.
/// Errors are one line: a tensor without a known name or there twice, two texts that differ.
Result<DumpFiles> read_dump(const std::vector<std::string>& paths, const std::string& given);

}  // namespace attest::cli
