// Kernels of the tests: correct ones that do one thing in their own way, and some that fail.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "mutants/wrong_call.hpp"

namespace attest::probe {

inline std::unique_ptr<Kernel> changes(void (*change)(Problem&), std::vector<Feature> features) {
  return std::make_unique<mutants::ChangesTheProblem>(
      mutants::describe_with("test", "of a test", std::move(features)), change);
}

inline void softcap_before_scale(Problem& problem) {
  problem.softcap *= scale_value(problem);
}
inline void plain_relative_alibi(Problem& problem) {
  if (problem.alibi) problem.alibi->form = Alibi::Form::relative;
}
inline void bottom_right_always(Problem& problem) {
  if (problem.mask.causal) problem.mask.causal = Causal{Causal::Alignment::bottom_right, 0};
}

inline void no_prefix(Problem& problem) {
  problem.mask.prefix.reset();
}
inline void chunk_without_causal(Problem& problem) {
  if (problem.mask.chunk && problem.mask.causal)
    problem.mask.alignment = std::exchange(problem.mask.causal, std::nullopt);
}
inline void chunk_one_longer(Problem& problem) {
  if (problem.mask.chunk) ++*problem.mask.chunk;
}
inline void no_segments(Problem& problem) {
  problem.mask.segments.reset();
}
inline void earlier_segments(Problem& problem) {
  if (!problem.mask.segments) return;
  const Segments segments = *std::exchange(problem.mask.segments, std::nullopt);
  MaskBits bits{problem.seq_q, problem.seq_kv, {}};
  for (const Index query : segments.q)
    for (const Index key : segments.k) bits.visible.push_back(key <= query);
  problem.mask.bits = std::move(bits);
}
/// Where the next table names enough pages.
inline void next_table(Problem& problem) {
  auto& tables = problem.kv.page_table;
  if (tables.empty()) return;
  std::vector<std::vector<Index>> next(tables.begin() + 1, tables.end());
  next.push_back(tables.front());
  for (std::size_t b = 0; b < tables.size(); ++b)
    if (static_cast<Index>(next[b].size()) * problem.kv.page_size >=
        problem.key_length(static_cast<Index>(b)))
      tables[b] = next[b];
}
inline void head_major_descales(Problem& problem) {
  if (!problem.descales) return;
  for (std::vector<double>* const factors :
       {&problem.descales->q, &problem.descales->k, &problem.descales->v}) {
    const std::vector<double> asked = *factors;
    if (asked.size() == 1) continue;
    for (Index b = 0; b < problem.batch; ++b)
      for (Index head = 0; head < problem.heads_kv; ++head)
        (*factors)[static_cast<std::size_t>(b * problem.heads_kv + head)] =
            asked[static_cast<std::size_t>(head * problem.batch + b)];
  }
}
inline void no_descale_of_k(Problem& problem) {
  if (problem.descales) problem.descales->k = {1};
}
inline void no_descale_of_v(Problem& problem) {
  if (problem.descales) problem.descales->v = {1};
}

inline std::unique_ptr<Kernel> calls(mutants::WrongForward run, std::vector<Feature> features) {
  return std::make_unique<mutants::WrongCall>(
      mutants::describe_with("test", "of a test", std::move(features)), run);
}

/// The term qv . v multiplied by a number.
inline Status with_qv_times(double factor, const Kernel& correct, const Problem& problem,
                            const Tiling& tiling, const ForwardViews& views) {
  if (!problem.qv) return correct.forward(problem, tiling, views);
  Tensor qv(views.qv.dtype, views.qv.extents);
  for_each_index(views.qv.extents, [&](Index b, Index h, Index row, Index column) {
    qv.set(b, h, row, column, factor * number_at(views.qv, b, h, row, column));
  });
  ForwardViews other = views;
  other.qv = read_only(qv.ref());
  return correct.forward(problem, tiling, other);
}
inline Status no_qv(const Kernel& correct, const Problem& problem, const Tiling& tiling,
                    const ForwardViews& views) {
  return with_qv_times(0, correct, problem, tiling, views);
}
inline Status qv_after_the_scale(const Kernel& correct, const Problem& problem,
                                 const Tiling& tiling, const ForwardViews& views) {
  return with_qv_times(1 / scale_value(problem), correct, problem, tiling, views);
}

/// Keys and values of packed members from other rows: `begin(problem, b)`.
inline Status with_keys_from(Index (*begin)(const Problem&, Index b), const Kernel& correct,
                             const Problem& problem, const Tiling& tiling,
                             const ForwardViews& views) {
  if (problem.layout.order != Layout::Order::thd) return correct.forward(problem, tiling, views);
  ForwardViews other = views;
  const auto moved = [&](const ConstTensorRef& from) {
    Tensor to(from.dtype, from.extents);
    for (Index b = 0; b < problem.batch; ++b)
      for (Index key = 0; key < problem.key_length(b); ++key)
        for (Index h = 0; h < from.extents[1]; ++h)
          for (Index c = 0; c < from.extents[3]; ++c)
            to.set(0, h, stored_key(problem, b, key).row, c,
                   number_at(from, 0, h, begin(problem, b) + key, c));
    return to;
  };
  const Tensor k = moved(views.k);
  const Tensor v = moved(views.v);
  other.k = k.ref();
  other.v = v.ref();
  return correct.forward(problem, tiling, other);
}
inline Status keys_of_the_first_member(const Kernel& correct, const Problem& problem,
                                       const Tiling& tiling, const ForwardViews& views) {
  return with_keys_from([](const Problem&, Index) -> Index { return 0; }, correct, problem, tiling,
                        views);
}
inline Status keys_where_queries_begin(const Kernel& correct, const Problem& problem,
                                       const Tiling& tiling, const ForwardViews& views) {
  return with_keys_from([](const Problem& of, Index b) { return stored_query(of, b, 0).row; },
                        correct, problem, tiling, views);
}

/// Adds weighted values in a given order: f32, every key visible.
class SumsInOrder : public Kernel {
 public:
  using Sum = float (*)(std::span<const float>);
  explicit SumsInOrder(Sum sum) : sum_(sum) {
    description_ = mutants::describe("sums_in_order", "of a test");
    description_.capabilities.dtypes = {Dtype::f32};
    description_.capabilities.lse = false;
    description_.capabilities.grouped_heads = false;
    description_.capabilities.key_lengths = false;
    description_.capabilities.mask_bits = false;
  }
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem&) const override { return {}; }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    if (problem.mask.causal) return {StatusCode::unsupported, "kernel does not declare masks"};
    const auto q = views.q.as<const float>();
    const auto k = views.k.as<const float>();
    const auto v = views.v.as<const float>();
    const auto out = views.out.as<float>();
    const auto scale = static_cast<float>(scale_value(problem));
    const auto keys = static_cast<std::size_t>(problem.seq_kv);
    for_each_row(problem, [&](const RowIndex& row) {
      std::vector<float> weights(keys, 0);
      float largest = -std::numeric_limits<float>::infinity();
      for (std::size_t key = 0; key < keys; ++key) {
        for (Index c = 0; c < problem.head_dim; ++c)
          weights[key] += q(row.batch, row.head, row.query, c) *
                          k(row.batch, row.head, static_cast<Index>(key), c);
        weights[key] *= scale;
        largest = std::max(largest, weights[key]);
      }
      float total = 0;
      for (float& weight : weights) total += weight = std::exp(weight - largest);
      for (Index c = 0; c < problem.head_dim_v; ++c) {
        std::vector<float> terms(keys);
        for (std::size_t key = 0; key < keys; ++key)
          terms[key] = weights[key] * v(row.batch, row.head, static_cast<Index>(key), c);
        out(row.batch, row.head, row.query, c) = sum_(terms) / total;
      }
    });
    return {};
  }

 private:
  Sum sum_;
  KernelDescription description_;
};

inline float in_pairs(std::span<const float> terms) {
  if (terms.size() < 2) return terms.empty() ? 0.0F : terms.front();
  std::size_t left = 1;
  while (2 * left < terms.size()) left *= 2;
  return in_pairs(terms.first(left)) + in_pairs(terms.subspan(left));
}
inline float from_the_last(std::span<const float> terms) {
  float sum = 0;
  for (std::size_t i = terms.size(); i-- > 0;) sum += terms[i];
  return sum;
}
inline float in_four_lanes(std::span<const float> terms) {
  float lanes[4]{};
  for (std::size_t i = 0; i < terms.size(); ++i) lanes[i % 4] += terms[i];
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}
inline float in_double(std::span<const float> terms) {
  double sum = 0;
  for (const float term : terms) sum += static_cast<double>(term);
  return static_cast<float>(sum);
}

/// Throws, or fails, on causal masks.
class Fails : public mutants::ChangesTheProblem {
 public:
  explicit Fails(bool throws)
      : ChangesTheProblem(mutants::describe("fails", "of a test"), [](Problem&) {}),
        throws_(throws) {}
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (!problem.mask.causal) return ChangesTheProblem::forward(problem, tiling, views);
    if (throws_) throw std::runtime_error("out of luck");
    return {StatusCode::kernel_failed, "exit code 139"};
  }

 private:
  bool throws_;
};

/// Takes no call at all.
class TakesNothing : public mutants::ChangesTheProblem {
 public:
  TakesNothing()
      : ChangesTheProblem(mutants::describe("takes_nothing", "of a test"), [](Problem&) {}) {}
  Status forward(const Problem&, const Tiling&, const ForwardViews&) const override {
    return {StatusCode::kernel_failed, "no device"};
  }
};

}  // namespace attest::probe
