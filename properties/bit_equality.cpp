#include "properties/bit_equality.hpp"

#include "attest/threads.hpp"
#include "properties/derive.hpp"
#include "properties/draw.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

Verdict same_again(const Kernel& kernel, const Case& on) {
  Verdict verdict = contract_repeat_bits(kernel, on);
  if (verdict.outcome != Outcome::ok) return verdict;
  Verdict gradients = gradient_repeat_bits(kernel, on);
  return is_violation(gradients.outcome) ? gradients : verdict;
}

Verdict same_alone(const Kernel& kernel, const Case& given) {
  const Case on = given.problem.batch == 1 ? with_strangers(densely_stored(forward_only(given)))
                                           : forward_only(given);
  const Problem& problem = on.problem;
  const Outputs together = run_kernel(kernel, on);
  if (const auto verdict = stopped(together, on)) return *verdict;
  Tally tally;
  for (Index b = 0; b < problem.batch; ++b) {
    if (problem.query_length(b) != problem.seq_q || problem.key_length(b) != problem.seq_kv)
      continue;
    const Case member = single_member(on, b);
    const Outputs alone = run_kernel(kernel, member);
    if (const auto verdict = stopped(alone, member)) return *verdict;
    for_each_row(member.problem, [&](const RowIndex& row) {
      same_row_bits(tally, {alone, row}, {together, {b, row.head, row.query}},
                    "the batch member is alone");
    });
  }
  return tally.verdict();
}

/// Cuts at which the kernel declares the same bits; anywhere if it declares nothing.
Verdict same_split(const Kernel& kernel, const Case& on) {
  switch (kernel.description().capabilities.reproducible) {
    case Reproducible::splits:
      return order_contiguous_splits(kernel, on);
    case Reproducible::any_order:
      return order_any_split(kernel, on);
    case Reproducible::no:
      break;
  }
  if (on.problem.seq_kv < 2) return Verdict::weak("the case has nothing to split");
  return same_under_splits(kernel, forward_only(on), 1);
}

/// Sets the number of threads, and in the end what it was.
class Threads {
 public:
  Threads() : before_(thread_count()) {}
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { set_thread_count(before_); }

 private:
  int before_;
};

Verdict same_threads(const Kernel& kernel, const Case& given) {
  const Case on = forward_only(given);
  const Threads restored;
  set_thread_count(1);
  const Outputs one = run_kernel(kernel, on);
  if (const auto verdict = stopped(one, on)) return *verdict;
  Tally tally;
  for (const int count : {2, 3, 8}) {
    set_thread_count(count);
    const Outputs several = run_kernel(kernel, on);
    if (const auto verdict = stopped(several, on)) return *verdict;
    for_each_row(on.problem, [&](const RowIndex& row) {
      same_row_bits(tally, row, several, one, "the number of threads is another");
    });
  }
  return tally.verdict();
}

void add(BitCount& count, const Verdict& verdict) {
  if (verdict.outcome == Outcome::ok) ++count.equal;
  if (verdict.outcome == Outcome::fail) ++count.differ;
  if (count.equal + count.differ > 0)
    count.reason.clear();
  else
    count.reason = verdict.reason;
}

}  // namespace

std::string not_applicable(const Kernel& kernel, BitKind kind) {
  const Capabilities& can = kernel.description().capabilities;
  if (kind == BitKind::split && !can.kv_splits && !can.tiles)
    return "the kernel does not cut the keys";
  if (kind == BitKind::threads && !can.threads) return "the kernel works on one thread";
  return {};
}

bool must_be_equal(const Kernel& kernel, BitKind kind) {
  if (!not_applicable(kernel, kind).empty()) return false;
  switch (kind) {
    case BitKind::rerun:
    case BitKind::position:
    case BitKind::threads:
      return true;
    case BitKind::batch:
    case BitKind::split:
      break;
  }
  return kernel.description().capabilities.reproducible != Reproducible::no;
}

Verdict same_bits_otherwise(const Kernel& kernel, const Case& on, BitKind kind) {
  if (const std::string reason = not_applicable(kernel, kind); !reason.empty())
    return Verdict::skipped(reason);
  switch (kind) {
    case BitKind::rerun:
      return same_again(kernel, on);
    case BitKind::batch:
      return same_alone(kernel, on);
    case BitKind::position:
      return batch_row_position(kernel, on);
    case BitKind::split:
      return same_split(kernel, on);
    case BitKind::threads:
      break;
  }
  return same_threads(kernel, on);
}

std::vector<BitCount> count_bit_equality(const Kernel& kernel, const CaseLimits& limits,
                                         Index cases, std::uint64_t seed) {
  std::vector<BitCount> counts;
  for (const Dtype dtype : kernel.description().capabilities.dtypes) {
    CaseLimits of_dtype = limits;
    of_dtype.dtypes = {dtype};
    std::vector<BitCount> row;
    for (const BitKind kind : kBitKinds)
      row.push_back({dtype, kind, 0, 0, not_applicable(kernel, kind)});
    for (Index number = 0; number < cases; ++number) {
      SeededDraw draw(
          mixed_seed(seed, static_cast<std::uint64_t>(dtype), static_cast<std::uint64_t>(number)));
      const Case drawn = draw_case(draw, of_dtype);
      for (BitCount& count : row)
        if (not_applicable(kernel, count.kind).empty())
          add(count, same_bits_otherwise(kernel, drawn, count.kind));
    }
    counts.insert(counts.end(), row.begin(), row.end());
  }
  return counts;
}

}  // namespace attest::properties
