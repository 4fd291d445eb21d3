#include "bench/dense_heads.hpp"
#include "bench/eigen_native.hpp"
#include "bench/peers.hpp"

namespace attest::bench {
namespace {

class EigenCall : public DenseCall {
 public:
  EigenCall(const Workload& workload, const DenseHeads& heads)
      : DenseCall(workload, heads), scores_(heads.square_bytes()) {}
  Status run() override {
    for (Index h = 0; h < heads_.heads; ++h)
      eigen_native_head({heads_.queries, heads_.keys, heads_.head_dim, heads_.scale, heads_.causal,
                         heads_.q + h * heads_.query_elements(),
                         heads_.k + h * heads_.key_elements(), heads_.v + h * heads_.key_elements(),
                         scores_.floats(), out_.floats() + h * heads_.query_elements()});
    return {};
  }
  double workspace_bytes() const override { return static_cast<double>(scores_.bytes()); }

 private:
  Buffer scores_;
};

}  // namespace

Competitor eigen_materialised() {
  return {"Eigen, materialised", Role::peer,
          [](const Workload& workload, const Inputs& inputs) -> Prepared {
            if (workload.pass != Pass::forward) return not_offered("forward only");
            const auto heads = materialised_heads(workload, inputs);
            if (!heads.ok()) return heads.status();
            return {std::make_unique<EigenCall>(workload, heads.value())};
          }};
}

}  // namespace attest::bench
