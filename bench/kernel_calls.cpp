#include "bench/kernel_calls.hpp"

#include <utility>

#if __has_include("attest/threads.hpp")
#include "attest/threads.hpp"
#define ATTEST_BENCH_THREADS 1
#else
#define ATTEST_BENCH_THREADS 0
#endif

namespace attest::bench {
namespace {

void use_threads([[maybe_unused]] int count) {
#if ATTEST_BENCH_THREADS
  set_thread_count(count);
#endif
}

/// The forward call of a kernel.
class ForwardCall : public Call {
 public:
  ForwardCall(const Kernel& kernel, Workload workload, const Inputs& inputs, int threads)
      : kernel_(kernel),
        workload_(std::move(workload)),
        threads_(threads),
        tiling_(kernel.preferred_tiling(problem())),
        out_(problem().layout, problem().out_dtype(), problem().out_extents()),
        lse_(problem().layout, problem().compute_dtype(), problem().lse_extents()) {
    views_.q = read_only(inputs.q.ref());
    views_.k = read_only(inputs.k.ref());
    views_.v = read_only(inputs.v.ref());
    views_.out = out_.ref();
    if (problem().lse != LseForm::none) views_.lse = lse_.ref();
  }
  Status run() override {
    use_threads(threads_);
    return kernel_.forward(problem(), tiling_, views_);
  }
  double work() const override { return work_of(workload_); }
  ConstTensorRef out() override { return read_only(out_.ref()); }

 protected:
  const Problem& problem() const { return workload_.problem; }
  const Kernel& kernel_;
  Workload workload_;
  int threads_;
  Tiling tiling_;
  Dense out_;
  Dense lse_;
  ForwardViews views_;
};

/// The backward call; the forward pass before it is not timed.
class BackwardCall : public ForwardCall {
 public:
  BackwardCall(const Kernel& kernel, const Workload& workload, const Inputs& inputs, int threads)
      : ForwardCall(kernel, workload, inputs, threads),
        dq_(problem().layout, problem().dtype, problem().q_extents()),
        dk_(problem().layout, problem().k_dtype(), problem().k_extents()),
        dv_(problem().layout, problem().v_dtype(), problem().v_extents()) {
    gradient_views_ = {views_.q,
                       views_.k,
                       views_.v,
                       read_only(out_.ref()),
                       read_only(lse_.ref()),
                       read_only(inputs.dout.ref())};
    gradient_views_.dq = dq_.ref();
    gradient_views_.dk = dk_.ref();
    gradient_views_.dv = dv_.ref();
  }
  Status prepare() { return ForwardCall::run(); }
  Status run() override {
    use_threads(threads_);
    return kernel_.backward(problem(), tiling_, gradient_views_);
  }
  std::vector<ConstTensorRef> gradients() override {
    return {read_only(dq_.ref()), read_only(dk_.ref()), read_only(dv_.ref())};
  }

 private:
  Dense dq_;
  Dense dk_;
  Dense dv_;
  BackwardViews gradient_views_;
};

Prepared prepare(const Kernel& kernel, const Workload& workload, const Inputs& inputs,
                 int threads) {
  if (Status status = check_support(kernel.description().capabilities, workload.problem);
      !status.ok())
    return status;
  if (workload.pass == Pass::forward)
    return {std::make_unique<ForwardCall>(kernel, workload, inputs, threads)};
  auto call = std::make_unique<BackwardCall>(kernel, workload, inputs, threads);
  if (Status status = call->prepare(); !status.ok()) return status;
  return {std::move(call)};
}

Competitor competitor_of(const Kernel& kernel, const std::string& suffix) {
  return {kernel.description().name + suffix,
          Role::subject,
          {},
          [&kernel](const Problem& problem) { return kernel.accuracy(problem); },
          [&kernel](const Problem& problem) { return kernel.gradient_accuracy(problem); },
          [&kernel](const Problem& problem) { return kernel.preferred_tiling(problem); }};
}

}  // namespace

Competitor kernel_competitor(const Kernel& kernel, int threads) {
  Competitor competitor = competitor_of(kernel, threads_suffix(threads));
  competitor.threads = threads;
  competitor.prepare = [&kernel, threads](const Workload& workload, const Inputs& inputs) {
    return prepare(kernel, workload, inputs, threads);
  };
  return competitor;
}

Competitor dense_kernel_competitor(const Kernel& kernel) {
  Competitor competitor = competitor_of(kernel, std::string(", ") + kWithoutMask);
  competitor.role = Role::part;  // another problem: judged under its own workload
  competitor.prepare = [&kernel](const Workload& workload, const Inputs& inputs) {
    return prepare(kernel, without_mask(workload), inputs, 1);
  };
  return competitor;
}

bool can_set_threads() {
  return ATTEST_BENCH_THREADS != 0;
}

}  // namespace attest::bench
