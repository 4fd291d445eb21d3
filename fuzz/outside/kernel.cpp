#include "kernel.hpp"

namespace mine {
namespace {

/// Refuses every problem: only that it compiles and links matters.
class Mine : public attest::Kernel {
 public:
  const attest::KernelDescription& description() const override { return description_; }
  attest::DeclaredAccuracy accuracy(const attest::Problem&) const override { return {}; }
  attest::Status forward(const attest::Problem& problem, const attest::Tiling& tiling,
                         const attest::ForwardViews& views) const override {
    return check_call(description_.capabilities, problem, tiling, views);
  }

 private:
  attest::KernelDescription description_;
};

}  // namespace

std::unique_ptr<attest::Kernel> make_kernel() {
  return std::make_unique<Mine>();
}

}  // namespace mine
