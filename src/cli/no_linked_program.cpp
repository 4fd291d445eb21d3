// Alone in its file, so that a program can have another one.
#include "cli/linked_program.hpp"

namespace attest::cli {

const LinkedProgram& linked_program() {
  static const LinkedProgram plain;
  return plain;
}

}  // namespace attest::cli
