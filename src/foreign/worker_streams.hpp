// The standard streams of a worker: the protocol moves away from them before foreign code is
// loaded, and what that code prints is caught.
#pragma once

#include <string>

#include "attest/status.hpp"
#include "foreign/child_process.hpp"

namespace attest::foreign {

class WorkerStreams {
 public:
  /// Takes standard input and output of this process for the protocol and puts others in their
  /// place. Errors: io_error.
  static Result<WorkerStreams> take_over();

  int input() const { return input_.number(); }
  int output() const { return output_.number(); }

  /// "printed 12 bytes on standard output: 'hello world\n'" since the last call; empty: nothing.
  std::string printed() const;

 private:
  Descriptor input_, output_, caught_;
};

}  // namespace attest::foreign
