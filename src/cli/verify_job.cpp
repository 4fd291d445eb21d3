#include "cli/verify_job.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "attest/random.hpp"
#include "properties/diagnosis.hpp"
#include "properties/judge.hpp"
#include "properties/judge_gradients.hpp"

namespace attest::cli {
namespace {

using properties::Case;
using properties::Outputs;
using properties::Part;

/// Rows that both oracles look at, of those that are wrong or near their bound.
constexpr Index kAudits = 64;
constexpr std::uint64_t kSeed = 0x5EED1A77;

std::vector<RowIndex> chosen_rows(const Problem& problem, Index most) {
  std::vector<RowIndex> rows = properties::all_rows(problem);
  const auto size = static_cast<Index>(rows.size());
  if (most == 0 || most >= size) return rows;
  SplitMix64 random(kSeed);
  std::vector<RowIndex> chosen;
  // Each row with the same probability, in their order.
  for (Index at = 0; at < size; ++at) {
    const Index needed = most - static_cast<Index>(chosen.size());
    if (random.below(static_cast<std::uint64_t>(size - at)) < static_cast<std::uint64_t>(needed))
      chosen.push_back(rows[static_cast<std::size_t>(at)]);
  }
  return chosen;
}

/// Why no exact gradients are computed of a problem; empty where they are.
std::string no_gradients(const Problem& problem) {
  if (problem.has_fp8_inputs()) return "gradients of fp8 inputs have no bound";
  if (problem.qv) return "gradients with a qv term have no bound";
  if (problem.descales) return "gradients with descales have no bound";
  if (problem.kv.kind == KvStorage::Kind::paged)
    return "gradients of a paged cache are not checked";
  if (problem.sink && !problem.sink->in_lse)
    return "gradients with an lse that leaves the sink out are not checked";
  return {};
}

/// The case as a backward pass reads it.
Case with_natural_lse(Case on) {
  on.problem.lse = LseForm::natural;
  on.problem.all_masked = AllMaskedPolicy::zero;
  on.problem.empty_lse = -std::numeric_limits<double>::infinity();
  return on;
}

/// out and lse of the dumped case, or of the same with a natural lse; where they were not dumped,
/// the exact ones, rounded.
Outputs forward_of(const Dump& dump, const DumpKernel& kernel, const Case& on) {
  const Problem& problem = on.problem;
  Outputs outputs;
  outputs.asked = {problem.lse, problem.all_masked, problem.empty_lse};
  const bool needs_lse = problem.lse != LseForm::none && problem.lse != dump.value.problem.lse;
  outputs.out = dump.outputs.out;
  if (problem.lse != LseForm::none) outputs.lse = dump.outputs.lse;
  if (dump.has_out() && !needs_lse) return outputs;
  if (!dump.has_out()) outputs.out = Tensor(problem.out_dtype(), problem.out_extents());
  if (needs_lse) outputs.lse = Tensor(problem.compute_dtype(), problem.lse_extents());
  const properties::Truth truth(kernel, on);
  for_each_row(problem, [&](const RowIndex& row) {
    const auto exact = truth.row(row);
    if (!exact) return;
    for (Index c = 0; c < problem.head_dim_v && !dump.has_out(); ++c)
      outputs.out.set(row.batch, row.head, row.query, c,
                      exact->facts.output[static_cast<std::size_t>(c)].high);
    if (needs_lse && exact->asked_lse)
      outputs.lse.set(row.batch, row.head, row.query, 0, exact->asked_lse->high);
  });
  return outputs;
}

class Verifying {
 public:
  explicit Verifying(const VerifyJob& job)
      : job_(job), dump_(*job.dump), kernel_(job.kernel_name(), dump_, job.assumed) {
    kernel_.knows(dump_.value, forward_of(dump_, kernel_, dump_.value));
  }

  VerifyReport run() {
    const std::vector<RowIndex> rows = chosen_rows(dump_.value.problem, job_.rows);
    report_.rows = static_cast<Index>(rows.size());
    report_.of_rows = static_cast<Index>(properties::all_rows(dump_.value.problem).size());
    const properties::RowChoice choice{rows, job_.jobs, kAudits};
    if (dump_.has_out()) add("out", "bound.out", dump_.value, judge(Part::out, choice));
    if (dump_.value.problem.lse != LseForm::none)
      add("lse", "bound.lse", dump_.value, judge(Part::lse, choice));
    if (dump_.value.problem.backward) run_gradients();
    return std::move(report_);
  }

 private:
  Verdict judge(Part part, const properties::RowChoice& choice) const {
    return properties::judge_outputs(kernel_, dump_.value, dump_.outputs, part, choice);
  }

  void add(const char* tensor, const char* law_name, const Case& on, Verdict verdict) {
    const properties::Law* const law = properties::find_law(law_name);
    std::string acts_like;
    if (is_violation(verdict.outcome))
      acts_like = properties::acts_like(properties::explain(kernel_, *law, on));
    report_.tensors.push_back({tensor, law, std::move(verdict), std::move(acts_like)});
  }

  void run_gradients() {
    properties::GradientOutputs outputs = dump_.gradients;
    const std::string reason = no_gradients(dump_.value.problem);
    const Case natural = with_natural_lse(dump_.value);
    if (reason.empty()) {
      outputs.forward = forward_of(dump_, kernel_, natural);
      kernel_.knows(natural, outputs.forward);
    }
    const std::vector<properties::KvHead> heads = chosen_heads();
    const auto judge = [&](const char* name, const char* law, const Tensor& tensor,
                           auto&& verdict) {
      if (tensor.bytes().empty()) return;
      add(name, law, natural, reason.empty() ? verdict() : Verdict::skipped(reason));
    };
    using properties::GradientPart;
    const auto part = [&](GradientPart of) {
      return [&, of] { return judge_gradient(kernel_, natural, outputs, of, heads); };
    };
    judge("dq", "gradient.dq", outputs.dq, part(GradientPart::dq));
    judge("dk", "gradient.dk", outputs.dk, part(GradientPart::dk));
    judge("dv", "gradient.dv", outputs.dv, part(GradientPart::dv));
    judge("dbias", "gradient.dbias", outputs.dbias,
          [&] { return judge_bias_gradient(kernel_, natural, outputs); });
    judge("dsink", "gradient.dsink", outputs.dsink,
          [&] { return judge_sink_gradient(kernel_, natural, outputs); });
  }

  /// As many kv heads as the rows that are asked for are.
  std::vector<properties::KvHead> chosen_heads() const {
    const Problem& problem = dump_.value.problem;
    std::vector<properties::KvHead> heads;
    Index rows = 0;
    for (Index b = 0; b < problem.batch; ++b)
      for (Index head = 0; head < problem.heads_kv; ++head) {
        if (job_.rows > 0 && rows >= job_.rows) return heads;
        heads.push_back({b, head});
        rows += static_cast<Index>(rows_of(problem, heads.back()).size());
      }
    return heads;
  }

  const VerifyJob& job_;
  const Dump& dump_;
  DumpKernel kernel_;
  VerifyReport report_;
};

}  // namespace

VerifyReport run_verify(const VerifyJob& job) {
  return Verifying(job).run();
}

}  // namespace attest::cli
