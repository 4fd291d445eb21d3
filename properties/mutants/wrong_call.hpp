// Wrong kernels of one kind: a function that gets a correct kernel and a call, and does something
// else with it. Elements are read and written as doubles, which hold every type.
#pragma once

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "attest/storage.hpp"
#include "attest/tensor.hpp"
#include "mutants/changed_problem.hpp"

namespace attest::mutants {

using WrongForward = Status (*)(const Kernel& correct, const Problem&, const Tiling&,
                                const ForwardViews&);

class WrongCall : public ChangesTheProblem {
 public:
  WrongCall(KernelDescription description, WrongForward run)
      : ChangesTheProblem(std::move(description), [](Problem&) {}), run_(run) {}

  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description().capabilities, problem, tiling, views);
        !status.ok())
      return status;
    return run_(correct(), problem, tiling, views);
  }

 private:
  WrongForward run_;
};

inline Mutant wrong_call(KernelDescription description, WrongForward run,
                         std::string_view killed_by) {
  return {std::make_unique<WrongCall>(std::move(description), run), killed_by};
}

/// Numbers of a correct run that become wrong afterwards.
using Spoil = void (*)(const Problem&, const Tiling&, const ForwardViews&);

/// A correct run, and something else where it gave results.
template <Spoil spoil>
Status run_and_spoil(const Kernel& correct, const Problem& problem, const Tiling& tiling,
                     const ForwardViews& views) {
  Status status = correct.forward(problem, tiling, views);
  if (status.ok() && problem.head_dim_v > 0) spoil(problem, tiling, views);
  return status;
}

inline void put(const TensorRef& view, const Problem& problem, const RowIndex& row, Index column,
                double value) {
  const StoredRow at = stored_query(problem, row.batch, row.query);
  store_element(view.dtype, address_of(view, at.b, row.head, at.row, column), value);
}
inline double taken(const TensorRef& view, const Problem& problem, const RowIndex& row,
                    Index column) {
  const StoredRow at = stored_query(problem, row.batch, row.query);
  return number_at(read_only(view), at.b, row.head, at.row, column);
}
inline void add(const TensorRef& view, const Problem& problem, const RowIndex& row, Index column,
                double value) {
  put(view, problem, row, column, taken(view, problem, row, column) + value);
}

/// The output row, and its lse where there is one.
inline void fill_row(const ForwardViews& views, const Problem& problem, const RowIndex& row,
                     double value) {
  for (Index c = 0; c < problem.head_dim_v; ++c) put(views.out, problem, row, c, value);
}

inline bool sees_nothing(const Problem& problem, Index b, Index begin, Index end) {
  return classify(problem, b, begin, end, 0, problem.seq_kv) == TileClass::empty;
}
inline bool sees_nothing(const Problem& problem, const RowIndex& row) {
  return sees_nothing(problem, row.batch, row.query, row.query + 1);
}

/// What chosen rows held before a call, put back after it: as if they had not been written.
class Unwritten {
 public:
  Unwritten(const Problem& problem, const TensorRef& view) : problem_(problem), view_(view) {}
  void keep(const RowIndex& row) {
    for (Index c = 0; c < view_.extents[3]; ++c)
      kept_.push_back({row, c, taken(view_, problem_, row, c)});
  }
  void put_back() const {
    for (const Kept& kept : kept_) put(view_, problem_, kept.row, kept.column, kept.value);
  }

 private:
  struct Kept {
    RowIndex row;
    Index column;
    double value;
  };
  const Problem& problem_;
  TensorRef view_;
  std::vector<Kept> kept_;
};

/// A tiled kernel with other steps that knows parts of a problem.
template <template <class> class Steps>
Mutant tiled_with(KernelDescription description, std::string_view killed_by) {
  return {
      std::make_unique<kernels::TiledKernel<Steps>>(std::move(description), SummaryScope::split),
      killed_by};
}

}  // namespace attest::mutants
