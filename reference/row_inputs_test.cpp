// Rows of problems with every kind of input: which numbers are read, and what becomes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "reference/oracle_fast.hpp"
#include "reference/test_cases.hpp"
#include "reference/test_row_facts.hpp"
#include "reference/test_rows.hpp"

namespace attest::reference {
namespace {

using testing::Each;
using testing::ElementsAre;

/// Every tensor of a problem.
struct Tensors {
  explicit Tensors(const Problem& asked)
      : problem(asked),
        q(asked.dtype, asked.q_extents()),
        k(asked.k_dtype(), asked.k_extents()),
        v(asked.v_dtype(), asked.v_extents()),
        bias(asked.bias_dtype(), asked.bias_extents()),
        sink(asked.compute_dtype(), asked.sink_extents()),
        qv(asked.dtype, asked.qv_extents()) {}

  Inputs inputs() const {
    return {&problem, q.ref(), k.ref(), v.ref(), bias.ref(), sink.ref(), qv.ref()};
  }
  Row row(const RowIndex& index = {}) const {
    std::optional<Row> row = read_row(inputs(), index);
    EXPECT_TRUE(row.has_value());
    return std::move(row).value_or(Row{});
  }

  Problem problem;
  Tensor q, k, v, bias, sink, qv;
};

Problem small(Index seq_q, Index seq_kv) {
  Problem problem;
  problem.seq_q = seq_q;
  problem.seq_kv = seq_kv;
  problem.scale = {false, 1};
  return problem;
}

TEST(ReadRow, EveryElementTypeIsExact) {
  for (const Dtype dtype : kDtypes) {
    Problem problem = small(1, 2);
    problem.dtype = dtype;
    problem.head_dim = 2;
    Tensors tensors(problem);
    const double smallest = 2 * format_of(dtype).rounding_underflow;
    const double largest = format_of(dtype).max_finite;
    const double tiny = dtype == Dtype::f64 ? std::numeric_limits<double>::denorm_min() : smallest;
    fill(tensors.q, {1.5, tiny});
    fill(tensors.k, {-1, largest, 0.25, -tiny});
    fill(tensors.v, {tiny, -largest});
    const Row row = tensors.row();
    EXPECT_THAT(row.q, ElementsAre(1.5, tiny)) << to_string(dtype);
    EXPECT_THAT(row.k, ElementsAre(-1, largest, 0.25, -tiny)) << to_string(dtype);
    EXPECT_THAT(row.v, ElementsAre(tiny, -largest)) << to_string(dtype);
    EXPECT_EQ(row.exact_products, dtype != Dtype::f64);
  }
}

TEST(ReadRow, DescalesMultiplyExactlyWithTheirBatchMemberAndHead) {
  const double third = static_cast<double>(1.0F / 3);
  Problem problem = small(1, 1);
  problem.batch = 2;
  problem.heads_q = 4;
  problem.heads_kv = 2;
  problem.dtype = Dtype::e4m3;
  problem.v_storage = Dtype::e5m2;
  problem.descales = Descales{{2}, {1, third, 0.5, 3}, {third, 1, 1, 7}};
  Tensors tensors(problem);
  for_each_index(problem.q_extents(), [&](Index b, Index h, Index, Index) {
    tensors.q.set(b, h, 0, 0, static_cast<double>(1 + h));
  });
  for_each_index(problem.k_extents(),
                 [&](Index b, Index h, Index, Index) { tensors.k.set(b, h, 0, 0, 1.125); });
  for_each_index(problem.v_extents(),
                 [&](Index b, Index h, Index, Index) { tensors.v.set(b, h, 0, 0, 1.25); });
  EXPECT_THAT(tensors.row({0, 2, 0}).q, ElementsAre(6));
  EXPECT_THAT(tensors.row({0, 1, 0}).k, ElementsAre(1.125));
  EXPECT_THAT(tensors.row({0, 2, 0}).k, ElementsAre(1.125 * third));
  EXPECT_THAT(tensors.row({1, 1, 0}).k, ElementsAre(0.5625));
  EXPECT_THAT(tensors.row({0, 0, 0}).v, ElementsAre(1.25 * third));
  EXPECT_THAT(tensors.row({1, 3, 0}).v, ElementsAre(8.75));
  EXPECT_FALSE(tensors.row().exact_products);
  tensors.problem.descales = Descales{};
  EXPECT_TRUE(tensors.row().exact_products);
}

TEST(ReadRow, AViewOfKHasItsDescale) {
  Problem problem = small(1, 2);
  problem.dtype = Dtype::e4m3;
  problem.head_dim = 2;
  problem.v_is_k_view = true;
  problem.descales = Descales{{1}, {3}, {5}};
  Tensors tensors(problem);
  fill(tensors.q, {1, 1});
  fill(tensors.k, {1, 2, -4, 8});
  Inputs inputs = tensors.inputs();
  inputs.v = std::as_const(tensors.k).ref();
  inputs.v.extents[3] = 1;
  EXPECT_THAT(read_row(inputs, {})->v, ElementsAre(3, -12));
}

TEST(ReadRow, ASecondQueryMeetsTheValues) {
  Problem problem = small(1, 2);
  problem.head_dim = 1;
  problem.head_dim_v = 2;
  problem.qv = true;
  Tensors tensors(problem);
  fill(tensors.q, {2});
  fill(tensors.qv, {3, -1});
  fill(tensors.k, {5, 7});
  fill(tensors.v, {1, 2, 0.5, 4});
  const Row row = tensors.row();
  EXPECT_EQ(row.head_dim, 3);
  EXPECT_EQ(row.head_dim_v, 2);
  // 2 5 + 3 1 - 1 2 = 11 and 2 7 + 3 0.5 - 1 4 = 11.5
  const RowFacts facts = enclose_row(row, 128).value();
  EXPECT_THAT(facts.score, ElementsAre(11, 11.5));
  EXPECT_THAT(facts.score_magnitude, ElementsAre(IsJustAbove(15.0), IsJustAbove(19.5)));
  EXPECT_EQ(enclose_row_fast(row).value().score, facts.score);
}

TEST(ReadRow, ABiasIsBroadcastOverTheAxesThatItDoesNotHave) {
  for (int axes = 0; axes < 8; ++axes) {
    Problem problem = small(2, 3);
    problem.batch = problem.heads_q = 2;
    problem.key_lengths = {3, 2};
    problem.bias = Bias{(axes & 1) != 0, (axes & 2) != 0, (axes & 4) != 0, Dtype::bf16};
    Tensors tensors(problem);
    for_each_index(problem.bias_extents(), [&](Index b, Index h, Index i, Index j) {
      tensors.bias.set(b, h, i, j, static_cast<double>(b + 2 * h + 4 * i + 8 * j));
    });
    for_each_index({2, 2, 2, 1}, [&](Index b, Index h, Index i, Index) {
      const Row row = tensors.row({b, h, i});
      ASSERT_EQ(row.addends.size(), 1U);
      const double first = static_cast<double>((problem.bias->per_batch ? b : 0) +
                                               (problem.bias->per_head ? 2 * h : 0) +
                                               (problem.bias->per_query ? 4 * i : 0));
      std::vector<double> expected{first, first + 8, first + 16};
      expected.resize(b == 0 ? 3 : 2);
      EXPECT_EQ(row.addends[0], added(expected)) << axes;
    });
  }
}

TEST(ReadRow, AddendsKeepTheirOrderAndTheirSideOfTheSoftcap) {
  constexpr double kExcluded = -std::numeric_limits<double>::infinity();
  Problem problem = small(1, 3);
  problem.softcap = 5;
  problem.bias = Bias{};
  problem.alibi = Alibi{{0.5}, Alibi::Form::absolute, Causal::Alignment::bottom_right};
  problem.mask.additive = AdditiveMask{1, 3, {-100, kExcluded, 0}};
  problem.order = {true, false, true};
  Tensors tensors(problem);
  fill(tensors.bias, {1, kNan, 3});
  const Row row = tensors.row();
  EXPECT_THAT(row.keys, ElementsAre(0, 2));
  EXPECT_EQ(row.softcap, 5);
  EXPECT_THAT(row.addends,
              ElementsAre(ScoreAddend{{1, 3}, true, false}, ScoreAddend{{-1, 0}, false, true},
                          ScoreAddend{{-100, 0}, true, false}));
  // The q is zero: 5 tanh(-99 / 5) - 1 is -6 up to the 16th digit; 5 tanh(3 / 5).
  const RowFacts facts = enclose_row(row, 128).value();
  EXPECT_EQ(facts.score[0], -6);
  EXPECT_EQ(facts.score[1], 5 * std::tanh(0.6));
}

TEST(ReadRow, AlibiHasThreeFormsAndFollowsTheLengthsOfTheMember) {
  Problem problem = small(2, 4);
  problem.batch = 2;
  problem.query_lengths = {2, 1};
  problem.key_lengths = {3, 4};
  problem.alibi = Alibi{{0.5}, Alibi::Form::absolute, Causal::Alignment::bottom_right};
  Tensors tensors(problem);
  const auto terms = [&](Alibi::Form form, const RowIndex& row) {
    tensors.problem.alibi->form = form;
    return tensors.row(row).addends.at(0).value;
  };
  // Query 0 of member 0 stands on key 1, the only query of member 1 on key 3.
  EXPECT_THAT(terms(Alibi::Form::absolute, {0, 0, 0}), ElementsAre(-0.5, 0, -0.5));
  EXPECT_THAT(terms(Alibi::Form::relative, {0, 0, 0}), ElementsAre(-0.5, 0, 0.5));
  EXPECT_THAT(terms(Alibi::Form::column, {0, 0, 1}), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(terms(Alibi::Form::absolute, {1, 0, 0}), ElementsAre(-1.5, -1, -0.5, 0));
  tensors.problem.alibi->alignment = Causal::Alignment::top_left;
  EXPECT_THAT(terms(Alibi::Form::relative, {1, 0, 0}), ElementsAre(0, 0.5, 1, 1.5));
  for (const Alibi::Form form :
       {Alibi::Form::absolute, Alibi::Form::relative, Alibi::Form::column}) {
    const std::vector<double> found = terms(form, {0, 0, 1});
    for (Index key = 0; key < 3; ++key)
      EXPECT_EQ(found[static_cast<std::size_t>(key)], alibi_term(tensors.problem, 0, 0, 1, key));
  }
}

TEST(ReadRow, ASinkIsThatOfTheQueryHead) {
  Problem problem = small(1, 0);
  problem.heads_q = 2;
  problem.sink = Sink{};
  Tensors tensors(problem);
  fill(tensors.sink, {0.5, -3});
  EXPECT_EQ(tensors.row({0, 0, 0}).sink, 0.5);
  EXPECT_EQ(tensors.row({0, 1, 0}).sink, -3);
  EXPECT_THAT(enclose_row(tensors.inputs(), {0, 1, 0}, 128)->lse, IsExactly(-3));
  tensors.problem.sink = Sink{true, true};
  EXPECT_EQ(tensors.row({0, 1, 0}).sink, 0);
  tensors.problem.sink.reset();
  EXPECT_FALSE(tensors.row().sink.has_value());
}

TEST(ReadRow, ANumberThatIsNotFiniteHasNoExactRow) {
  for (const double special : {kNan, kInfinity}) {
    Problem problem = small(1, 2);
    problem.qv = true;
    problem.bias = Bias{};
    problem.sink = Sink{};
    const Tensors clean(problem);
    EXPECT_TRUE(enclose_row(clean.inputs(), {}, 128).has_value());
    for (Tensor Tensors::*tensor : {&Tensors::bias, &Tensors::sink, &Tensors::qv}) {
      Tensors broken = clean;
      (broken.*tensor).set(0, 0, 0, 0, special);
      EXPECT_FALSE(enclose_row(broken.inputs(), {}, 128).has_value());
    }
  }
  Problem problem = small(1, 1);
  problem.dtype = Dtype::e4m3;
  Tensors tensors(problem);
  tensors.k.set(0, 0, 0, 0, kNan);
  EXPECT_FALSE(read_row(tensors.inputs(), {}).has_value());
}

TEST(CertifyRow, FiniteStandInsForAMaskHaveABound) {
  for (const double stand_in : {-1e4, -1e30, -static_cast<double>(0x1.fffffep127F)}) {
    Problem problem = small(1, 3);
    problem.mask.additive = AdditiveMask{1, 3, {0, stand_in, 0.5}};
    Tensors tensors(problem);
    fill(tensors.q, {0.75});
    fill(tensors.k, {1, 3, -2});
    fill(tensors.v, {1, 1e6, 2});
    DeclaredAccuracy accuracy;
    accuracy.dot_roundings = 1;
    accuracy.exp_relative_error = accuracy.log_relative_error = 0x1p-23;
    accuracy.exp_absolute_error = 0x1p-149;
    const CertifiedRow row = certify_row(tensors.inputs(), {}, [&](const RowFacts& facts) {
                               return error_bound(accuracy, facts, Tiling{}, 3);
                             }).value();
    ASSERT_TRUE(row.bound.proven()) << stand_in << ": " << row.bound.unproven;
    EXPECT_TRUE(row.narrow);
    const double other = std::exp(-1.0 - 0.75);  // of the third key, the first is 1
    const double output = (1 + 2 * other) / (1 + other);
    EXPECT_LE(row.facts.output[0].distance_lower(output), 0x1p-50);
    EXPECT_LT(row.bound.output[0], 100 * kF32.unit_roundoff * output);
  }
}

TEST(CertifyRow, AnEmptyRowUnderThePolicyMeanIsTheMeanOfAllValuesOfTheMember) {
  Problem problem = small(2, 4);
  problem.batch = 2;
  problem.heads_q = 2;
  problem.heads_kv = 2;
  problem.key_lengths = {3, 0};
  problem.mask.causal = Causal{Causal::Alignment::explicit_offset, -1};
  problem.all_masked = AllMaskedPolicy::mean;
  Tensors tensors(problem);
  for_each_index(problem.v_extents(), [&](Index, Index h, Index j, Index) {
    tensors.v.set(0, h, j, 0, static_cast<double>(10 * h + (j == 0 ? 1 : 4)));
  });
  tensors.k.set(0, 0, 1, 0, kNan);  // no score is asked for
  int asked = 0;
  const auto rule = [&](const RowFacts& facts) {
    ++asked;
    EXPECT_THAT(facts.score, Each(0));
    return uniform_bound(facts, 0.5, 0.25);
  };
  const CertifiedRow mean = certify_row(tensors.inputs(), {0, 1, 0}, rule).value();
  EXPECT_THAT(mean.facts.keys, ElementsAre(0, 1, 2));
  EXPECT_THAT(mean.facts.output, ElementsAre(Contains(13.0)));
  EXPECT_LT(mean.facts.output[0].radius, 0x1p-80);
  EXPECT_THAT(mean.bound.output, ElementsAre(0.5));
  EXPECT_GT(asked, 0);
  // A member without keys has no mean: 0 and bound 0.
  const CertifiedRow none = certify_row(tensors.inputs(), {1, 0, 0}, rule).value();
  EXPECT_THAT(none.facts.output, ElementsAre(IsExactly(0)));
  EXPECT_THAT(none.bound.output, ElementsAre(0));
  // The second query sees the first key.
  const CertifiedRow seen = certify_row(tensors.inputs(), {0, 1, 1}, rule).value();
  EXPECT_THAT(seen.facts.keys, ElementsAre(0));
  tensors.problem.all_masked = AllMaskedPolicy::zero;
  EXPECT_TRUE(certify_row(tensors.inputs(), {0, 1, 0}, rule)->facts.keys.empty());
}

}  // namespace
}  // namespace attest::reference
