// A plug-in of attest: attention of primitives of oneDNN 2, a head at a time. The mask is an
// operand that a binary post-op adds to the scores, as for a matmul of that library; the softmax is
// its own.
//
//   c++ -std=c++17 -O2 -shared -fPIC -Iinclude onednn_attention.cpp -ldnnl -o onednn.so
//   attest check ./onednn.so
#include <oneapi/dnnl/dnnl.hpp>

#include "head_matrices.hpp"

namespace {

using dnnl::memory;
using foreign::Head;
using Type = memory::data_type;

memory::desc matrix(int64_t rows, int64_t columns, Type type,
                    memory::format_tag tag = memory::format_tag::ab) {
  return {{rows, columns}, type, tag};
}

/// The primitives of one problem; every head has the same shapes.
struct Primitives {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  memory::desc q, k, v, scores, weights, out;
  dnnl::matmul to_scores;
  dnnl::softmax_forward to_softmax;
  dnnl::matmul to_out;

  Primitives(const attest_problem& problem, Type type)
      : q(matrix(problem.seq_q, problem.head_dim, type)),
        k(matrix(problem.head_dim, problem.seq_kv, type, memory::format_tag::ba)),
        v(matrix(problem.seq_kv, problem.head_dim_v, type)),
        scores(matrix(problem.seq_q, problem.seq_kv, Type::f32)),
        weights(matrix(problem.seq_q, problem.seq_kv, type)),
        out(matrix(problem.seq_q, problem.head_dim_v, type)),
        to_scores({{q, k, scores}, score_attributes(problem), engine}),
        to_softmax({{dnnl::prop_kind::forward_inference, scores, /*axis=*/1}, engine}),
        to_out({{weights, v, out}, engine}) {}

  dnnl::primitive_attr score_attributes(const attest_problem& problem) const {
    dnnl::primitive_attr attributes;
    attributes.set_output_scales(0, {static_cast<float>(problem.scale)});
    if (!foreign::has_mask(problem)) return attributes;
    dnnl::post_ops after;
    after.append_binary(dnnl::algorithm::binary_add, scores);
    attributes.set_post_ops(after);
    return attributes;
  }
};

template <class Element>
void attention(const Primitives& primitives, const Head& head,
               const attest_forward_tensors& tensors) {
  const dnnl::engine& engine = primitives.engine;
  dnnl::stream stream(engine);
  auto q = foreign::query_rows<Element>(head, *tensors.q);
  auto k = foreign::key_rows<Element>(head, *tensors.k);
  auto v = foreign::key_rows<Element>(head, *tensors.v);
  auto mask = foreign::additive_mask<float>(head, tensors.bias);
  const memory scores(primitives.scores, engine);
  const memory weights(primitives.weights, engine);
  const memory out(primitives.out, engine);

  primitives.to_scores.execute(stream, {{DNNL_ARG_SRC, memory(primitives.q, engine, q.data())},
                                        {DNNL_ARG_WEIGHTS, memory(primitives.k, engine, k.data())},
                                        {DNNL_ARG_DST, scores},
                                        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1,
                                         memory(primitives.scores, engine, mask.data())}});
  primitives.to_softmax.execute(stream, {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}});
  // A matmul of bf16 wants both operands in bf16.
  dnnl::reorder(scores, weights).execute(stream, {{DNNL_ARG_FROM, scores}, {DNNL_ARG_TO, weights}});
  primitives.to_out.execute(stream, {{DNNL_ARG_SRC, weights},
                                     {DNNL_ARG_WEIGHTS, memory(primitives.v, engine, v.data())},
                                     {DNNL_ARG_DST, out}});
  stream.wait();
  foreign::write_rows(head, *tensors.out, static_cast<const Element*>(out.get_data_handle()));
}

/// Whether this library multiplies matrices of that type on this machine.
bool multiplies(Type type) try {
  const memory::desc square = matrix(16, 16, type);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::matmul({{square, square, matrix(16, 16, Type::f32)}, engine});
  return true;
} catch (const dnnl::error&) {
  return false;
}

attest_description described() {
  static attest_accuracy accuracy{};
  accuracy.size = sizeof accuracy;
  accuracy.rounding = ATTEST_ROUNDING_NEAREST;
  accuracy.exp_form = ATTEST_EXP_NATURAL;
  accuracy.scope = ATTEST_SCOPE_ROW;

  attest_description description{};
  description.size = sizeof description;
  const dnnl_version_t& version = *dnnl_version();
  std::snprintf(description.name, sizeof description.name, "onednn-matmul-softmax");
  std::snprintf(description.version, sizeof description.version, "oneDNN %d.%d.%d", version.major,
                version.minor, version.patch);
  std::snprintf(description.summary, sizeof description.summary,
                "matmul with the mask as a binary post-op, softmax, matmul, by oneDNN.");
  description.dtypes = ATTEST_BIT(ATTEST_F32);
  if (multiplies(Type::bf16)) description.dtypes |= ATTEST_BIT(ATTEST_BF16);
  description.features = ATTEST_HAS_CAUSAL | ATTEST_HAS_WINDOW | ATTEST_HAS_KEY_LENGTHS |
                         ATTEST_HAS_QUERY_LENGTHS | ATTEST_HAS_MASK_BITS |
                         ATTEST_HAS_ADDITIVE_MASK | ATTEST_HAS_BIAS | ATTEST_HAS_GROUPED_HEADS |
                         ATTEST_HAS_EMPTY_NAN | ATTEST_HAS_STRIDES;
  description.accuracy = &accuracy;
  return description;
}

const attest_description* describe() {
  static const attest_description description = described();
  return &description;
}

int forward(const attest_problem* problem, const attest_tiling*,
            const attest_forward_tensors* tensors, attest_message* message) try {
  if (problem->seq_q == 0 || problem->seq_kv == 0)
    return foreign::unsupported(message, "matmul without rows");
  if (problem->dtype_bias != ATTEST_DTYPE_UNSAID && problem->dtype_bias != ATTEST_F32)
    return foreign::unsupported(message, "a bias of another type than the scores");
  const bool narrow = problem->dtype_q == ATTEST_BF16;
  const Primitives primitives(*problem, narrow ? Type::bf16 : Type::f32);
  foreign::for_each_head(*problem, [&](const Head& head) {
    if (narrow)
      attention<std::uint16_t>(primitives, head, *tensors);
    else
      attention<float>(primitives, head, *tensors);
  });
  return ATTEST_OK;
} catch (const dnnl::error& error) {
  std::snprintf(message->text, message->capacity, "oneDNN: %s", error.what());
  return error.status == dnnl_unimplemented ? ATTEST_UNSUPPORTED : ATTEST_FAILED;
} catch (const std::exception& error) {
  std::snprintf(message->text, message->capacity, "%s", error.what());
  return ATTEST_FAILED;
}

}  // namespace

const attest_kernel_table* attest_kernel() {
  static const attest_kernel_table table = [] {
    attest_kernel_table filled{};
    filled.size = sizeof filled;
    filled.abi_version = ATTEST_ABI_VERSION;
    filled.describe = describe;
    filled.forward = forward;
    return filled;
  }();
  return &table;
}
