// MultiHeadAttention of ONNX Runtime through its C API: one thread, in this process.
#include <array>
#include <cstring>

#include "bench/dense_heads.hpp"
#include "bench/onnx_model.hpp"
#include "bench/onnxruntime_api.hpp"
#include "bench/peers.hpp"

namespace attest::bench {
namespace {

constexpr int kLogErrors = 3;
constexpr int kDeviceAllocator = 0;
constexpr int kDefaultMemory = 0;
constexpr int kFloat = 1;

/// (1, rows, heads * head_dim), as the operator reads q, k and v.
Buffer rows_of_all_heads(const DenseHeads& heads, const float* from, Index rows) {
  Buffer packed(static_cast<std::size_t>(heads.heads * rows * heads.head_dim) * sizeof(float));
  for (Index h = 0; h < heads.heads; ++h)
    for (Index row = 0; row < rows; ++row)
      std::memcpy(packed.floats() + (row * heads.heads + h) * heads.head_dim,
                  from + (h * rows + row) * heads.head_dim,
                  static_cast<std::size_t>(heads.head_dim) * sizeof(float));
  return packed;
}

/// The environment and the memory description, one for the process.
struct Runtime {
  void* env = nullptr;
  void* memory = nullptr;
  Status status;

  explicit Runtime(const OnnxruntimeApi& api) {
    status = api.call(OrtPlace::create_env, kLogErrors, "attest", &env);
    if (status.ok())
      status =
          api.call(OrtPlace::create_cpu_memory_info, kDeviceAllocator, kDefaultMemory, &memory);
  }
};

class OnnxruntimeCall : public Call {
 public:
  OnnxruntimeCall(const OnnxruntimeApi& api, const Workload& workload, const DenseHeads& heads)
      : api_(api),
        heads_(heads),
        work_(work_of(workload)),
        q_(rows_of_all_heads(heads, heads.q, heads.queries)),
        k_(rows_of_all_heads(heads, heads.k, heads.keys)),
        v_(rows_of_all_heads(heads, heads.v, heads.keys)),
        out_(q_.bytes()) {}
  ~OnnxruntimeCall() override {
    for (void* const value : values_)
      if (value != nullptr) api_.function<void(void*)>(OrtPlace::release_value)(value);
    if (session_ != nullptr) api_.function<void(void*)>(OrtPlace::release_session)(session_);
  }

  Status prepare(const Runtime& runtime) {
    const Index columns = heads_.heads * heads_.head_dim;
    const std::vector<OnnxTensor> inputs{{"query", {1, heads_.queries, columns}},
                                         {"key", {1, heads_.keys, columns}},
                                         {"value", {1, heads_.keys, columns}}};
    const OnnxTensor output{"output", {1, heads_.queries, columns}};
    const std::string model = attention_model(inputs, output, heads_.heads, heads_.causal);
    if (Status status = open(runtime, model); !status.ok()) return status;
    const std::array<const Buffer*, 4> buffers{&q_, &k_, &v_, &out_};
    for (std::size_t i = 0; i < 4; ++i)
      if (Status status = wrap(runtime, *buffers[i], i < 3 ? inputs[i] : output, values_[i]);
          !status.ok())
        return status;
    return {};
  }
  Status run() override {
    static constexpr std::array<const char*, 3> inputs{"query", "key", "value"};
    static constexpr std::array<const char*, 1> outputs{"output"};
    const void* const no_options = nullptr;
    return api_.call(OrtPlace::run, session_, no_options, inputs.data(),
                     static_cast<const void* const*>(values_.data()), inputs.size(), outputs.data(),
                     outputs.size(), values_.data() + 3);
  }
  double work() const override { return work_; }
  ConstTensorRef out() override {
    const Extents extents{1, heads_.heads, heads_.queries, heads_.head_dim};
    return {out_.data(), Dtype::f32, extents, bshd_strides(extents)};
  }

 private:
  Status open(const Runtime& runtime, const std::string& model) {
    void* options = nullptr;
    if (Status status = api_.call(OrtPlace::create_session_options, &options); !status.ok())
      return status;
    Status status = api_.call(OrtPlace::set_intra_op_num_threads, options, 1);
    if (status.ok())
      status = api_.call(OrtPlace::create_session_from_array, static_cast<const void*>(runtime.env),
                         static_cast<const void*>(model.data()), model.size(),
                         static_cast<const void*>(options), &session_);
    api_.function<void(void*)>(OrtPlace::release_session_options)(options);
    return status;
  }
  Status wrap(const Runtime& runtime, const Buffer& buffer, const OnnxTensor& tensor,
              void*& value) const {
    const std::size_t bytes =
        static_cast<std::size_t>(tensor.extents[1] * tensor.extents[2]) * sizeof(float);
    return api_.call(OrtPlace::create_tensor_with_data, static_cast<const void*>(runtime.memory),
                     buffer.data(), bytes, static_cast<const Index*>(tensor.extents.data()),
                     tensor.extents.size(), kFloat, &value);
  }

  const OnnxruntimeApi& api_;
  DenseHeads heads_;
  double work_;
  Buffer q_;
  Buffer k_;
  Buffer v_;
  Buffer out_;
  void* session_ = nullptr;
  std::array<void*, 4> values_{};
};

Prepared prepare(const OnnxruntimeApi& api, const Workload& workload, const Inputs& inputs) {
  static const Runtime runtime(api);
  if (!runtime.status.ok()) return runtime.status;
  if (workload.pass != Pass::forward) return not_offered("forward only");
  const auto heads = dense_heads(workload, inputs);
  if (!heads.ok()) return heads.status();
  auto call = std::make_unique<OnnxruntimeCall>(api, workload, heads.value());
  if (Status status = call->prepare(runtime); !status.ok()) return status;
  return {std::move(call)};
}

}  // namespace

Result<Competitor> onnxruntime_attention() {
  const auto api = OnnxruntimeApi::load();
  if (!api.ok()) return api.status();
  return Competitor{"ONNX Runtime " + api.value()->version() + " MultiHeadAttention", Role::peer,
                    [loaded = api.value()](const Workload& workload, const Inputs& inputs) {
                      return prepare(*loaded, workload, inputs);
                    }};
}

}  // namespace attest::bench
