// contract.*: what a call may read, write and remember.
#include <cstring>

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
  Spread made{Tensor(dtype, extents, strides, body + 2 * kGuard), kGuard};
  fill_with_poison(made.tensor);
  return made;
}

Spread spread_copy(const Tensor& from, Spacing spacing) {
  Spread made = spread(from.dtype(), from.extents(), spacing);
  with_real_type(from.dtype(), [&](auto real) {
    using Real = decltype(real);
    const auto target = made.view().as<Real>();
    for_each_index(from.extents(), [&](Index b, Index h, Index row, Index column) {
      target(b, h, row, column) = static_cast<Real>(from.get(b, h, row, column));
    });
  });
  return made;
}

bool is_poison_at(const Tensor& tensor, Index offset) {
  Tensor probe(tensor.dtype(), {1, 1, 1, 1});
  const std::size_t size = size_of(tensor.dtype());
  std::memcpy(probe.bytes().data(), tensor.bytes().data() + static_cast<std::size_t>(offset) * size,
              size);
  return is_poison(probe, 0, 0, 0, 0);
}

/// Every element written, nothing else touched.
void check_written(Tally& tally, std::string_view name, const Spread& output) {
  const Tensor& tensor = output.tensor;
  const auto total = static_cast<Index>(tensor.bytes().size() / size_of(tensor.dtype()));
  std::vector<bool> is_element(static_cast<std::size_t>(total));
  const Strides& strides = tensor.strides();
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    const Index offset =
        output.first + b * strides[0] + h * strides[1] + row * strides[2] + column * strides[3];
    is_element[static_cast<std::size_t>(offset)] = true;
    tally.holds(!is_poison_at(tensor, offset), {name, {b, h, row}, column}, poison(tensor.dtype()),
                0, "element was not written");
  });
  for (Index offset = 0; offset < total; ++offset) {
    if (is_element[static_cast<std::size_t>(offset)]) continue;
    tally.holds(is_poison_at(tensor, offset), {name, {}, offset - output.first}, 0,
                poison(tensor.dtype()),
                "memory outside of the tensor was written (offset from its first element)");
  }
  tally.end_row();
}

struct SpreadRun {
  Status status;
  Spread out;
  Spread lse;
};

SpreadRun run_spread(const Kernel& kernel, const Case& on, Spacing spacing) {
  const Spread q = spread_copy(on.q, spacing);
  const Spread k = spread_copy(on.k, spacing);
  const Spread v = spread_copy(on.v, spacing);
  SpreadRun run;
  run.out = spread(on.problem.dtype, on.problem.out_extents(), spacing);
  const bool with_lse = on.problem.lse != LseForm::none;
  if (with_lse) run.lse = spread(on.problem.dtype, on.problem.lse_extents(), spacing);
  run.status = kernel.forward(
      on.problem, on.tiling,
      {q.view(), k.view(), v.view(), run.out.view(), with_lse ? run.lse.view() : TensorRef{}});
  return run;
}

void compare_bits(Tally& tally, std::string_view name, const Tensor& want,
                  const ConstTensorRef& got, std::string_view reason) {
  with_real_type(want.dtype(), [&](auto real) {
    using Real = decltype(real);
    const auto elements = got.as<const Real>();
    for_each_index(want.extents(), [&](Index b, Index h, Index row, Index column) {
      tally.same_bits({name, {b, h, row}, column}, static_cast<double>(elements(b, h, row, column)),
                      want.get(b, h, row, column), reason);
    });
  });
}

}  // namespace

Verdict contract_inputs_untouched(const Kernel& kernel, const Case& on) {
  // A copy, though never changed here: a kernel that writes to its inputs must not reach `on`.
  const Case given = on;  // NOLINT(performance-unnecessary-copy-initialization)
  const Outputs outputs = run_in_place(kernel, given);
  if (const auto verdict = stopped(outputs, given)) return *verdict;
  Tally tally;
  for (const auto& [name, tensor] :
       {std::pair{"q", &Case::q}, std::pair{"k", &Case::k}, std::pair{"v", &Case::v}})
    compare_bits(tally, name, on.*tensor, (given.*tensor).ref(), "an input was changed");
  tally.end_row();
  return tally.verdict();
}

Verdict contract_outputs_written(const Kernel& kernel, const Case& on) {
  Tally tally;
  for (const Spacing spacing : {Spacing::rows_apart, Spacing::columns_apart}) {
    const SpreadRun run = run_spread(kernel, on, spacing);
    if (const auto verdict = stopped({run.status, {}, {}}, on)) return *verdict;
    check_written(tally, "out", run.out);
    if (on.problem.lse != LseForm::none) check_written(tally, "lse", run.lse);
  }
  return tally.verdict();
}

Verdict contract_strides(const Kernel& kernel, const Case& on) {
  const Outputs contiguous = run_kernel(kernel, on);
  if (const auto verdict = stopped(contiguous, on)) return *verdict;
  Tally tally;
  for (const Spacing spacing : {Spacing::rows_apart, Spacing::columns_apart}) {
    const SpreadRun run = run_spread(kernel, on, spacing);
    if (const auto verdict = stopped({run.status, {}, {}}, on)) return *verdict;
    const Spread& out = run.out;
    compare_bits(tally, "out", contiguous.out, out.view(), "only the strides differ");
    const Spread& lse = run.lse;
    if (on.problem.lse != LseForm::none)
      compare_bits(tally, "lse", contiguous.lse, lse.view(), "only the strides differ");
    tally.end_row();
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
    compare_bits(tally, "out", first.out, again.out.ref(), "the same call was repeated");
    if (on.problem.lse != LseForm::none)
      compare_bits(tally, "lse", first.lse, again.lse.ref(), "the same call was repeated");
    tally.end_row();
  }
  return tally.verdict();
}

}  // namespace attest::properties
