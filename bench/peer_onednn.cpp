// oneDNN 2: matmul with the scale (and the mask as a binary post-op), softmax in place, matmul, a
// head at a time, so that the scores of a head may stay in the cache.
#include <limits>
#include <oneapi/dnnl/dnnl.hpp>

#include "bench/dense_heads.hpp"
#include "bench/peers.hpp"

namespace attest::bench {
namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

Desc matrix(Index rows, Index columns, Tag tag = Tag::ab) {
  return {{rows, columns}, dnnl::memory::data_type::f32, tag};
}

class OnednnCall : public DenseCall {
 public:
  OnednnCall(const Workload& workload, const DenseHeads& heads)
      : DenseCall(workload, heads),
        scores_(heads.square_bytes()),
        mask_(heads.causal ? heads.square_bytes() : 1),
        stream_(engine_),
        score_memory_(matrix(heads.queries, heads.keys), engine_, scores_.data()),
        mask_memory_(matrix(heads.queries, heads.keys), engine_, mask_.data()) {
    const Desc rows = matrix(heads.queries, heads.head_dim);
    const Desc square = matrix(heads.queries, heads.keys);
    if (heads.causal) fill_mask();
    const Desc transposed = matrix(heads.head_dim, heads.keys, Tag::ba);
    to_scores_ = dnnl::matmul({{rows, transposed, square}, score_attributes(square), engine_});
    to_weights_ =
        dnnl::softmax_forward({{dnnl::prop_kind::forward_inference, square, /*axis=*/1}, engine_});
    to_output_ = dnnl::matmul({{square, matrix(heads.keys, heads.head_dim), rows}, engine_});
  }
  Status run() override try {
    for (Index h = 0; h < heads_.heads; ++h) run_head(h);
    stream_.wait();
    return {};
  } catch (const dnnl::error& error) {
    return {StatusCode::kernel_failed, std::string("oneDNN: ") + error.what()};
  }
  double workspace_bytes() const override {
    return static_cast<double>(scores_.bytes() + mask_.bytes());
  }

 private:
  void fill_mask() {
    for (Index i = 0; i < heads_.queries; ++i)
      for (Index j = i + 1; j < heads_.keys; ++j)
        mask_.floats()[i * heads_.keys + j] = -std::numeric_limits<float>::infinity();
  }
  dnnl::primitive_attr score_attributes(const Desc& square) const {
    dnnl::primitive_attr attributes;
    attributes.set_output_scales(0, {heads_.scale});
    if (!heads_.causal) return attributes;
    dnnl::post_ops after;
    after.append_binary(dnnl::algorithm::binary_add, square);
    attributes.set_post_ops(after);
    return attributes;
  }
  dnnl::memory at(const float* data, const Desc& desc) const {
    return {desc, engine_, const_cast<float*>(data)};
  }
  void run_head(Index h) {
    const Index d = heads_.head_dim;
    const dnnl::memory q = at(heads_.q + h * heads_.query_elements(), matrix(heads_.queries, d));
    const dnnl::memory k =
        at(heads_.k + h * heads_.key_elements(), matrix(d, heads_.keys, Tag::ba));
    const dnnl::memory v = at(heads_.v + h * heads_.key_elements(), matrix(heads_.keys, d));
    const dnnl::memory o =
        at(out_.floats() + h * heads_.query_elements(), matrix(heads_.queries, d));
    to_scores_.execute(stream_,
                       {{DNNL_ARG_SRC, q},
                        {DNNL_ARG_WEIGHTS, k},
                        {DNNL_ARG_DST, score_memory_},
                        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, mask_memory_}});
    to_weights_.execute(stream_, {{DNNL_ARG_SRC, score_memory_}, {DNNL_ARG_DST, score_memory_}});
    to_output_.execute(stream_,
                       {{DNNL_ARG_SRC, score_memory_}, {DNNL_ARG_WEIGHTS, v}, {DNNL_ARG_DST, o}});
  }

  Buffer scores_;
  Buffer mask_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_;
  dnnl::memory score_memory_;
  dnnl::memory mask_memory_;
  dnnl::matmul to_scores_;
  dnnl::softmax_forward to_weights_;
  dnnl::matmul to_output_;
};

}  // namespace

Competitor onednn_attention() {
  return {"oneDNN matmul+softmax+matmul", Role::peer,
          [](const Workload& workload, const Inputs& inputs) -> Prepared {
            if (workload.pass != Pass::forward) return not_offered("forward only");
            const auto heads = materialised_heads(workload, inputs);
            if (!heads.ok()) return heads.status();
            try {
              return {std::make_unique<OnednnCall>(workload, heads.value())};
            } catch (const dnnl::error& error) {
              return not_offered(std::string("oneDNN: ") + error.what());
            }
          }};
}

}  // namespace attest::bench
