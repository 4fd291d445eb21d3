// A dump as a case: its tensors in the places that the problem text gives them, and what the kernel
// that wrote it gave.
#pragma once

#include <string>
#include <vector>

#include "cli/dump_files.hpp"
#include "properties/case.hpp"
#include "properties/run_kernel.hpp"

namespace attest::cli {

struct Dump {
  properties::Case value;       ///< asks for the lse only if the dump has one
  properties::Outputs outputs;  ///< `out` without elements where the dump has none
  /// dq, dk, dv, dbias, dsink; those that the dump does not have are without elements. `forward`
  /// is not set.
  properties::GradientOutputs gradients;
  std::vector<std::string> notes;  ///< what was taken for granted, one line each

  bool has_out() const { return !outputs.out.bytes().empty(); }
};

/// Shapes go by the layout of the problem: bshd is an array (batch, row, head, column). Extents of
/// 1 in front may be missing. lse and dlse are (batch, head, row), or in the order of the layout;
/// a sink is (head). Numbers of another type are taken where each is a number of the type that the
/// problem says.
Result<Dump> make_dump(const DumpFiles& files, const ProblemText& text);

/// Problem texts without a mask whose shapes are those of the dump, for somebody who gave none.
std::vector<std::string> possible_problems(const DumpFiles& files);

}  // namespace attest::cli
