// Attention operators of ONNX Runtime through its C API: one thread, in this process.
//
// MultiHeadAttention is the fast one (its own flash attention) where there is no mask; for a causal
// mask GroupQueryAttention is, which knows no other.
#include <cstdint>
#include <cstring>
#include <utility>

#include "bench/dense_heads.hpp"
#include "bench/onnx_model.hpp"
#include "bench/onnxruntime_api.hpp"
#include "bench/peers.hpp"

namespace attest::bench {
namespace {

constexpr int kLogErrors = 3;
constexpr int kDeviceAllocator = 0;
constexpr int kDefaultMemory = 0;

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

Buffer number(Index value) {
  Buffer buffer(sizeof(std::int32_t));
  *static_cast<std::int32_t*>(buffer.data()) = static_cast<std::int32_t>(value);
  return buffer;
}

/// Both types have four bytes.
std::size_t bytes_of(const OnnxTensor& tensor) {
  std::size_t bytes = 4;
  for (const Index extent : tensor.extents) bytes *= static_cast<std::size_t>(extent);
  return bytes;
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
      : api_(api), heads_(heads), work_(work_of(workload)) {}
  ~OnnxruntimeCall() override {
    for (void* const value : values_)
      if (value != nullptr) api_.function<void(void*)>(OrtPlace::release_value)(value);
    if (session_ != nullptr) api_.function<void(void*)>(OrtPlace::release_session)(session_);
  }

  Status prepare(const Runtime& runtime) {
    const Index columns = heads_.heads * heads_.head_dim;
    add({"query", {1, heads_.queries, columns}},
        rows_of_all_heads(heads_, heads_.q, heads_.queries));
    OnnxNode node = heads_.causal ? grouped_node() : multi_head_node();
    node.inputs = tensors_;
    // Past keys and values, which a first call has not.
    if (heads_.causal) node.inputs.insert(node.inputs.begin() + 3, 2, OnnxTensor{});
    inputs_ = tensors_.size();
    for (const OnnxTensor& output : node.outputs) add(output, Buffer(bytes_of(output)));
    if (Status status = open(runtime, model_of(node)); !status.ok()) return status;
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (Status status = wrap(runtime, i); !status.ok()) return status;
    return {};
  }
  Status run() override {
    const void* const no_options = nullptr;
    return api_.call(OrtPlace::run, session_, no_options,
                     static_cast<const char* const*>(names_.data()),
                     static_cast<const void* const*>(values_.data()), inputs_,
                     static_cast<const char* const*>(names_.data() + inputs_),
                     values_.size() - inputs_, values_.data() + inputs_);
  }
  double work() const override { return work_; }
  ConstTensorRef out() override {
    const Extents extents{1, heads_.heads, heads_.queries, heads_.head_dim};
    return {data_[inputs_], Dtype::f32, extents, bshd_strides(extents)};
  }

 private:
  /// Keys and values as the operator reads them fastest: rows of all heads, or for a single query
  /// head after head, which saves it a transposition.
  OnnxNode multi_head_node() {
    const Extents by_head{1, heads_.heads, heads_.keys, heads_.head_dim};
    if (heads_.queries == 1) {
      refer({"key", {by_head.begin(), by_head.end()}}, heads_.k);
      refer({"value", {by_head.begin(), by_head.end()}}, heads_.v);
    } else {
      add_rows_of_keys();
    }
    return {"MultiHeadAttention", {}, {output()}, {{"num_heads", heads_.heads}}};
  }
  OnnxNode grouped_node() {
    add_rows_of_keys();
    add({"seqlens_k", {1}, OnnxType::i32}, number(heads_.keys - 1));
    add({"total_sequence_length", {}, OnnxType::i32}, number(heads_.keys));
    const std::vector<Index> present{1, heads_.heads, heads_.keys, heads_.head_dim};
    return {"GroupQueryAttention",
            {},
            {output(), {"present_key", present}, {"present_value", present}},
            {{"num_heads", heads_.heads}, {"kv_num_heads", heads_.heads}}};
  }
  OnnxTensor output() const {
    return {"output", {1, heads_.queries, heads_.heads * heads_.head_dim}};
  }
  void add_rows_of_keys() {
    const std::vector<Index> extents{1, heads_.keys, heads_.heads * heads_.head_dim};
    add({"key", extents}, rows_of_all_heads(heads_, heads_.k, heads_.keys));
    add({"value", extents}, rows_of_all_heads(heads_, heads_.v, heads_.keys));
  }
  /// A tensor in memory of its own.
  void add(const OnnxTensor& tensor, Buffer buffer) {
    buffers_.push_back(std::move(buffer));
    refer(tensor, buffers_.back().floats());
  }
  void refer(const OnnxTensor& tensor, const float* data) {
    tensors_.push_back(tensor);
    data_.push_back(data);
  }
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
  Status wrap(const Runtime& runtime, std::size_t number) {
    const OnnxTensor& tensor = tensors_[number];
    names_.push_back(tensor.name.c_str());
    values_.push_back(nullptr);
    return api_.call(OrtPlace::create_tensor_with_data, static_cast<const void*>(runtime.memory),
                     static_cast<void*>(const_cast<float*>(data_[number])), bytes_of(tensor),
                     tensor.extents.data(), tensor.extents.size(), static_cast<int>(tensor.type),
                     &values_.back());
  }

  const OnnxruntimeApi& api_;
  DenseHeads heads_;
  double work_;
  std::size_t inputs_ = 0;
  std::vector<Buffer> buffers_;
  std::vector<OnnxTensor> tensors_;  ///< the inputs, then the outputs
  std::vector<const float*> data_;
  std::vector<const char*> names_;
  std::vector<void*> values_;
  void* session_ = nullptr;
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
  return Competitor{"ONNX Runtime " + api.value()->version(), Role::peer,
                    [loaded = api.value()](const Workload& workload, const Inputs& inputs) {
                      return prepare(*loaded, workload, inputs);
                    }};
}

}  // namespace attest::bench
