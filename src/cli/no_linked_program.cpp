// Alone in its file, so that a program can have another one.
#include <cstdlib>

#include "cli/linked_program.hpp"

namespace attest::cli {

const LinkedProgram& linked_program() {
  static const LinkedProgram plain = [] {
    LinkedProgram made;
    // Of tests that start a program which the shell of their reader need not find.
    if (const char* const command = std::getenv("ATTEST_COMMAND");
        command != nullptr && *command != 0)
      made.command = command;
    return made;
  }();
  return plain;
}

}  // namespace attest::cli
