// Mistakes around a backward pass: what it reads, writes and remembers.
#include <utility>
#include <vector>

#include "attest/storage.hpp"
#include "mutants/changed_problem.hpp"
#include "mutants/gradient_mutant.hpp"

namespace attest::mutants {
namespace {

/// Adds 0 times the row of dout behind the last one of a shorter batch member.
class ReadsPaddedDout : public GradientMutant {
 public:
  using GradientMutant::GradientMutant;

 protected:
  Status wrong_backward(const Problem& problem, const Tiling& tiling,
                        const BackwardViews& views) const override {
    Status status = correct_backward(problem, tiling, views);
    if (!status.ok() || !problem.layout.dense_bshd()) return status;
    with_real_type(problem.compute_dtype(), [&]<class Real>(Real) {
      const auto dout = views.dout.as<const Real>();
      const auto dv = views.dv.as<Real>();
      for (Index b = 0; b < problem.batch; ++b) {
        const Index length = problem.query_length(b);
        if (length == problem.seq_q || problem.key_length(b) == 0) continue;
        const StoredRow key = stored_key(problem, b, 0);
        dv(key.b, 0, key.row, 0) += Real(0) * dout(b, 0, length, 0);
      }
    });
    return status;
  }
};

/// Leaves dq of rows that see nothing as it was.
class SkipsEmptyRows : public GradientMutant {
 public:
  using GradientMutant::GradientMutant;

 protected:
  Status wrong_backward(const Problem& problem, const Tiling& tiling,
                        const BackwardViews& views) const override {
    Status status;
    with_real_type(problem.compute_dtype(), [&]<class Real>(Real) {
      const auto dq = views.dq.as<Real>();
      std::vector<std::pair<Real*, Real>> before;
      for (Index b = 0; b < problem.batch; ++b)
        for (Index query = 0; query < problem.query_length(b); ++query) {
          if (classify(problem, b, query, query + 1, 0, problem.seq_kv) != TileClass::empty)
            continue;
          const StoredRow at = stored_query(problem, b, query);
          for (Index h = 0; h < problem.heads_q; ++h)
            for (Index c = 0; c < problem.head_dim; ++c)
              before.emplace_back(&dq(at.b, h, at.row, c), dq(at.b, h, at.row, c));
        }
      status = correct_backward(problem, tiling, views);
      for (const auto& [element, value] : before) *element = value;
    });
    return status;
  }
};

/// Takes pages in the order of memory, not of the table.
class PagesInOrder : public GradientMutant {
 public:
  using GradientMutant::GradientMutant;

 protected:
  Status wrong_backward(const Problem& problem, const Tiling& tiling,
                        const BackwardViews& views) const override {
    Problem changed = problem;
    pages_in_order(changed);
    return correct_backward(changed, tiling, views);
  }
};

/// dk and dv of the last batch member replace those of the others.
class LastMemberOnly : public GradientMutant {
 public:
  using GradientMutant::GradientMutant;

 protected:
  Status wrong_backward(const Problem& problem, const Tiling& tiling,
                        const BackwardViews& views) const override {
    Status status = correct_backward(problem, tiling, views);
    const bool packed = problem.layout.order == Layout::Order::thd;
    if (!status.ok() || problem.kv.kind != KvStorage::Kind::paged || packed) return status;
    // Of the others no row remains, so that their dq stays as it is.
    Problem last = problem;
    last.query_lengths.assign(static_cast<std::size_t>(problem.batch), 0);
    if (problem.batch > 0) last.query_lengths.back() = problem.query_length(problem.batch - 1);
    return correct_backward(last, tiling, views);
  }
};

/// Every second call adds 1 to one number, as a race would.
class AddsNowAndThen : public GradientMutant {
 public:
  using GradientMutant::GradientMutant;

 protected:
  Status wrong_backward(const Problem& problem, const Tiling& tiling,
                        const BackwardViews& views) const override {
    Status status = correct_backward(problem, tiling, views);
    // Of a thread: calls of others must not decide which one is wrong.
    static thread_local int calls = 0;
    if (!status.ok() || ++calls % 2 == 0) return status;
    with_real_type(problem.compute_dtype(), [&]<class Real>(Real) {
      for (Index b = 0; b < problem.batch; ++b) {
        if (problem.query_length(b) == 0) continue;
        const StoredRow at = stored_query(problem, b, 0);
        views.dq.as<Real>()(at.b, 0, at.row, 0) += 1;
      }
    });
    return status;
  }
};

template <class Wrong>
Mutant call_mutant(KernelDescription description, std::string_view killed_by) {
  return {std::make_unique<Wrong>(std::move(description)), killed_by};
}

}  // namespace

void append_gradient_call_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(call_mutant<ReadsPaddedDout>(
      describe_gradients("reads_padded_dout", "rows of dout beyond the query length are read",
                         {Feature::query_lengths}),
      "gradient.dv"));
  mutants.push_back(call_mutant<SkipsEmptyRows>(
      describe_gradients("dq_of_empty_rows_unwritten", "dq of a row without keys is not written"),
      "gradient.written"));
  mutants.push_back(call_mutant<PagesInOrder>(
      describe_gradients("backward_pages_in_order",
                         "the backward pass takes pages in the order of memory", {Feature::paged}),
      "gradient.storage"));
  mutants.push_back(call_mutant<LastMemberOnly>(
      describe_gradients("dk_of_the_last_member", "dk and dv have terms of the last member only",
                         {Feature::paged}),
      "gradient.shared_pages"));
  mutants.push_back(call_mutant<AddsNowAndThen>(
      describe_gradients("dq_differs_now_and_then", "every second call gives another dq"),
      "gradient.repeat_bits"));
}

}  // namespace attest::mutants
