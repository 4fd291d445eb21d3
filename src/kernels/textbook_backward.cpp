#include "kernels/backward.hpp"
#include "kernels/gradient_pairs.hpp"
#include "kernels/gradient_sums.hpp"

namespace attest::kernels {
namespace {

template <class Real>
class TextbookBackward {
 public:
  TextbookBackward(const Problem& problem, const BackwardViews& views)
      : problem_(problem),
        views_(views),
        pairs_(steps_, problem, views),
        keys_(problem),
        scores_(steps_, problem, views),
        dq_(1, problem.head_dim) {}

  void run() {
    for (Index kv_head = 0; kv_head < problem_.heads_kv; ++kv_head) {
      keys_.clear();
      for (Index b = 0; b < problem_.batch; ++b)
        for_each_head_of(problem_, kv_head, [&](Index h) {
          for (Index query = 0; query < problem_.query_length(b); ++query) add_row({b, h, query});
        });
      keys_.write(views_, kv_head, pairs_.scale());
    }
  }

 private:
  void add_row(const RowIndex& index) {
    dq_.clear();
    if (pairs_.sees_something(index)) add_pairs(index);
    write_scaled(views_.dq, pairs_.place(index), dq_.row(0), pairs_.scale());
  }

  void add_pairs(const RowIndex& index) {
    const Index b = index.batch;
    const QueryRow<Real> row = pairs_.row(index, pairs_.delta(index));
    for (Index key = 0; key < problem_.key_length(b); ++key) {
      if (!visible(problem_, b, index.query, key)) continue;
      const PairGradient<Real> pair = pairs_.pair(row, key);
      add_scaled(dq_.row(0), pair.dot_gradient, pair.k);
      add_scaled(keys_.dk(b, key), pair.dot_gradient, row.q);
      add_scaled(keys_.dv(b, key), pair.weight, row.output_gradient);
      scores_.add_bias(index, key, pair.bias_gradient);
    }
    if (scores_.has_sink()) scores_.add_sink(index, pairs_.sink_gradient(index, row.delta));
  }

  BackwardSteps<Real> steps_;
  const Problem& problem_;
  const BackwardViews& views_;
  GradientPairs<Real> pairs_;
  KeySums<Real> keys_;
  ScoreSums<Real> scores_;
  SumRows<Real> dq_;
};

}  // namespace

void textbook_backward(const Problem& problem, const BackwardViews& views) {
  with_real_type(problem.compute_dtype(),
                 [&](auto real) { TextbookBackward<decltype(real)>(problem, views).run(); });
}

}  // namespace attest::kernels
