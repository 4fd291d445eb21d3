// contract.*: what a call may read, write and remember.
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"

namespace attest::properties {
namespace {

/// A tensor whose elements lie apart, in another physical order, between guard elements. What is
/// not an element keeps its poison.
struct Spread {
  Tensor tensor;    ///< owns the memory; its own strides are those of the view
  Index first = 0;  ///< offset of element (0, 0, 0, 0)

  ConstTensorRef view() const { return {at(), tensor.dtype(), tensor.extents(), tensor.strides()}; }
  TensorRef view() {
    return {const_cast<void*>(at()), tensor.dtype(), tensor.extents(), tensor.strides()};
  }

 private:
  const void* at() const {
    return tensor.bytes().data() + static_cast<std::size_t>(first) * size_of(tensor.dtype());
  }
};

enum class Spacing {
  rows_apart,     ///< bhsd order, three unused elements after each row
  columns_apart,  ///< bshd order, every second element unused
};

/// Elements sit at `first` + the strides' offset; a guard of `kGuard` elements on both sides.
Spread spread(Dtype dtype, const Extents& extents, Spacing spacing) {
  constexpr Index kGuard = 5;
  const Index step = spacing == Spacing::columns_apart ? 2 : 1;
  const Index row = extents[3] * step + (spacing == Spacing::rows_apart ? 3 : 0);
  const Strides strides = spacing == Spacing::rows_apart
                              ? Strides{extents[1] * extents[2] * row, extents[2] * row, row, step}
                              : Strides{extents[1] * extents[2] * row, row, extents[1] * row, step};
  const Index body = extents[0] * extents[1] * extents[2] * row;
  return {poisoned(dtype, extents, strides, body + 2 * kGuard), kGuard};
}

/// The same elements, bit for bit, elsewhere.
Spread spread_copy(const Tensor& from, Spacing spacing) {
  Spread made = spread(from.dtype(), from.extents(), spacing);
  for_each_index(from.extents(), [&](Index b, Index h, Index row, Index column) {
    std::memcpy(address_of(made.view(), b, h, row, column),
                address_of(from.ref(), b, h, row, column), size_of(from.dtype()));
  });
  return made;
}

/// Every element of a row that exists written, nothing else touched.
void check_written(Tally& tally, std::string_view name, const Problem& problem,
                   const Spread& output) {
  const Tensor& tensor = output.tensor;
  const auto total = static_cast<Index>(tensor.bytes().size() / size_of(tensor.dtype()));
  std::vector<bool> is_element(static_cast<std::size_t>(total));
  for_each_row(problem, [&](const RowIndex& row) {
    const StoredRow at = stored_query(problem, row.batch, row.query);
    for (Index column = 0; column < tensor.extents()[3]; ++column) {
      const Index offset =
          output.first + element_offset(tensor.strides(), at.b, row.head, at.row, column);
      is_element[static_cast<std::size_t>(offset)] = true;
      tally.holds(!is_poison_at(tensor, offset), {name, row, column}, poison(tensor.dtype()), 0,
                  "element was not written");
    }
  });
  for (Index offset = 0; offset < total; ++offset) {
    if (is_element[static_cast<std::size_t>(offset)]) continue;
    tally.holds(is_poison_at(tensor, offset), {name, {}, offset - output.first}, 0,
                poison(tensor.dtype()),
                "memory outside of the tensor was written (offset from its first element)");
  }
  tally.end_row();
}

constexpr std::array kStoredTensors{
    std::pair{"q", &StoredInputs::q},       std::pair{"k", &StoredInputs::k},
    std::pair{"v", &StoredInputs::v},       std::pair{"bias", &StoredInputs::bias},
    std::pair{"sink", &StoredInputs::sink}, std::pair{"qv", &StoredInputs::qv}};

struct SpreadRun {
  Status status;
  Spread out;
  Spread lse;
};

/// Stored tensors in other strides; v stays a view of k where it is one.
SpreadRun run_spread(const Kernel& kernel, const Case& on, Spacing spacing) {
  const Problem& problem = on.problem;
  const StoredInputs inputs = store(on);
  const auto spread_input = [&](const Tensor& tensor) {
    return tensor.extents() == Extents{} ? Spread{} : spread_copy(tensor, spacing);
  };
  const Spread q = spread_input(inputs.q);
  const Spread k = spread_input(inputs.k);
  const Spread v = spread_input(inputs.v);
  const Spread bias = spread_input(inputs.bias);
  const Spread sink = spread_input(inputs.sink);
  const Spread qv = spread_input(inputs.qv);
  SpreadRun run;
  run.out = spread(problem.out_dtype(), stored_q_extents(problem, problem.head_dim_v), spacing);
  ForwardViews views{q.view(), k.view(), v.view(), run.out.view(), {}};
  if (problem.v_is_k_view) {
    views.v = k.view();
    views.v.extents[3] = problem.head_dim_v;
  }
  if (problem.bias) views.bias = bias.view();
  if (problem.sink && !problem.sink->zero) views.sink = sink.view();
  if (problem.qv) views.qv = qv.view();
  if (problem.lse != LseForm::none) {
    run.lse = spread(problem.compute_dtype(), stored_q_extents(problem, problem.lse_extents()[3]),
                     spacing);
    views.lse = run.lse.view();
  }
  run.status = kernel.forward(problem, on.tiling, views);
  return run;
}

void compare_bytes(Tally& tally, std::string_view name, const Tensor& got, const Tensor& want) {
  const auto elements = static_cast<Index>(want.bytes().size() / size_of(want.dtype()));
  for (Index offset = 0; offset < elements; ++offset) {
    const auto at = static_cast<std::size_t>(offset) * size_of(want.dtype());
    const auto number = [&](const Tensor& tensor) {
      return load_element(tensor.dtype(), tensor.bytes().data() + at);
    };
    const bool same =
        std::memcmp(got.bytes().data() + at, want.bytes().data() + at, size_of(want.dtype())) == 0;
    tally.holds(same, {name, {}, offset}, number(got), number(want),
                "an input was changed (offset into its memory)");
  }
}

}  // namespace

Verdict contract_inputs_untouched(const Kernel& kernel, const Case& on) {
  const StoredInputs given = store(on);
  const StoredInputs untouched = store(on);
  const Outputs outputs = run_kernel(kernel, on, given);
  if (const auto verdict = stopped(outputs, on)) return *verdict;
  Tally tally;
  for (const auto& [name, tensor] : kStoredTensors)
    compare_bytes(tally, name, given.*tensor, untouched.*tensor);
  tally.end_row();
  return tally.verdict();
}

Verdict contract_outputs_written(const Kernel& kernel, const Case& on) {
  Tally tally;
  for (const Spacing spacing : {Spacing::rows_apart, Spacing::columns_apart}) {
    const SpreadRun run = run_spread(kernel, on, spacing);
    if (const auto verdict = stopped(run.status, on)) return *verdict;
    check_written(tally, "out", on.problem, run.out);
    if (on.problem.lse != LseForm::none) check_written(tally, "lse", on.problem, run.lse);
  }
  return tally.verdict();
}

Verdict contract_strides(const Kernel& kernel, const Case& on) {
  const Outputs contiguous = run_kernel(kernel, on);
  if (const auto verdict = stopped(contiguous, on)) return *verdict;
  Tally tally;
  for (const Spacing spacing : {Spacing::rows_apart, Spacing::columns_apart}) {
    const SpreadRun run = run_spread(kernel, on, spacing);
    if (const auto verdict = stopped(run.status, on)) return *verdict;
    constexpr std::string_view kReason = "only the strides differ";
    same_stored_bits(tally, "out", on.problem, contiguous.out, run.out.view(), kReason);
    if (on.problem.lse != LseForm::none)
      same_stored_bits(tally, "lse", on.problem, contiguous.lse, run.lse.view(), kReason);
  }
  return tally.verdict();
}

Verdict contract_repeat_bits(const Kernel& kernel, const Case& on) {
  const Outputs first = run_kernel(kernel, on);
  if (const auto verdict = stopped(first, on)) return *verdict;
  Tally tally;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Outputs again = run_kernel(kernel, on);
    if (const auto verdict = stopped(again, on)) return *verdict;
    for_each_row(on.problem, [&](const RowIndex& row) {
      same_row_bits(tally, row, again, first, "the same call was repeated");
    });
  }
  return tally.verdict();
}

}  // namespace attest::properties
