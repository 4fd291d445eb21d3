// One computation that is ready to be timed, and who offers it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attest/accuracy.hpp"
#include "attest/gradient_bound.hpp"
#include "bench/inputs.hpp"
#include "bench/workload.hpp"

namespace attest::bench {

/// Everything is prepared, and memory is allocated and touched, before run() is called first.
class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  virtual Status run() = 0;
  /// Flops or bytes of one run.
  virtual double work() const = 0;
  /// The output by logical index (b, h, query, column); null where there is none to judge.
  virtual ConstTensorRef out() { return {}; }
  /// dq, dk, dv; null where there are none.
  virtual std::vector<ConstTensorRef> gradients() { return {}; }
  /// Memory for intermediate results that was prepared beside the inputs and the output.
  virtual double workspace_bytes() const { return 0; }
};

using Prepared = Result<std::unique_ptr<Call>>;

enum class Role {
  limit,    ///< of the machine: nothing to judge
  part,     ///< the matrix products alone: less than attention
  peer,     ///< of other libraries, which declare no accuracy
  subject,  ///< a kernel of this repository, with the accuracy that it declares
};

struct Competitor {
  std::string name;
  Role role = Role::peer;
  /// `unsupported` where it does not offer such a workload. Both arguments outlive the call.
  std::function<Prepared(const Workload&, const Inputs&)> prepare;
  /// Of a subject.
  std::function<DeclaredAccuracy(const Problem&)> accuracy = {};
  std::function<DeclaredGradientAccuracy(const Problem&)> gradient_accuracy = {};
  /// How a subject cuts a problem; one tile where it does not say.
  std::function<Tiling(const Problem&)> tiling = {};
  int threads = 1;
};

/// What is added to the name of a competitor that uses several threads.
inline std::string threads_suffix(int threads) {
  return threads == 1 ? std::string() : ", " + std::to_string(threads) + " threads";
}

inline Status not_offered(std::string what) {
  return {StatusCode::unsupported, std::move(what)};
}

}  // namespace attest::bench
