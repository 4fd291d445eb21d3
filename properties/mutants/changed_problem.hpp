// Wrong kernels of one kind: a correct one that computes another problem on the same tensors.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {

inline KernelDescription describe_with(std::string_view name, std::string_view mistake,
                                       std::vector<Feature> features) {
  KernelDescription description = describe(name, mistake);
  description.capabilities.features = std::move(features);
  return description;
}

/// Computes another problem on the same tensors.
class ChangesTheProblem : public Kernel {
 public:
  ChangesTheProblem(KernelDescription description, void (*change)(Problem&))
      : description_(std::move(description)), change_(change) {}

  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return correct_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    Problem changed = problem;
    change_(changed);
    return correct_->forward(changed, tiling, views);
  }

 protected:
  const Kernel& correct() const { return *correct_; }

 private:
  KernelDescription description_;
  void (*change_)(Problem&);
  std::unique_ptr<Kernel> correct_ = kernels::make_scalar_tree();
};

inline Mutant changed_problem(KernelDescription description, void (*change)(Problem&),
                              std::string_view killed_by) {
  return {std::make_unique<ChangesTheProblem>(std::move(description), change), killed_by};
}

/// Pages in the order of memory, not of the table.
inline void pages_in_order(Problem& problem) {
  Index next = 0;
  for (std::vector<Index>& table : problem.kv.page_table)
    for (Index& page : table) page = next++;
}

}  // namespace attest::mutants
