#include "kernels/kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>

#include "attest/problem_text.hpp"
#include "attest/random.hpp"
#include "attest/tensor.hpp"
#include "kernels/registry.hpp"

namespace attest::kernels {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUntouched = -77;

/// A problem with its tensors. Every element of out and lse is kUntouched at first.
struct Case {
  explicit Case(Problem asked, Tiling cut = {})
      : problem(std::move(asked)),
        tiling(std::move(cut)),
        q(problem.dtype, problem.q_extents()),
        k(problem.dtype, problem.k_extents()),
        v(problem.dtype, problem.v_extents()),
        out(problem.dtype, problem.out_extents()),
        lse(problem.dtype, problem.lse_extents()) {
    clear();
  }
  void clear() {
    for (Tensor* tensor : {&out, &lse}) fill(*tensor, [] { return kUntouched; });
  }
  template <class Next>
  static void fill(Tensor& tensor, Next&& next) {
    for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
      tensor.set(b, h, row, column, next());
    });
  }
  ForwardViews views() {
    const Case& inputs = *this;
    return {inputs.q.ref(), inputs.k.ref(), inputs.v.ref(), out.ref(),
            problem.lse == LseForm::none ? TensorRef{} : lse.ref()};
  }
  Status forward(const Kernel& kernel) { return kernel.forward(problem, tiling, views()); }
  void run(const Kernel& kernel) {
    const Status status = forward(kernel);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  Problem problem;
  Tiling tiling;
  Tensor q, k, v, out, lse;
};

/// The problem and tiling of a line, with inputs that are multiples of 2^-20 in [-4, 4).
Case random_case(const std::string& line, std::uint64_t seed = 1) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << with_caret(line, error);
  Case drawn(text.problem, text.tiling);
  SplitMix64 random(seed);
  for (Tensor* tensor : {&drawn.q, &drawn.k, &drawn.v})
    Case::fill(*tensor, [&] { return static_cast<double>(random.below(1U << 23U)) * 0x1p-20 - 4; });
  return drawn;
}

/// The elements in logical order.
std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    values.push_back(tensor.get(b, h, row, column));
  });
  return values;
}

bool is_untouched(const Tensor& tensor) {
  const std::vector<double> values = values_of(tensor);
  return std::all_of(values.begin(), values.end(), [](double v) { return v == kUntouched; });
}

template <class Body>
void for_each_kernel(Body&& body) {
  for (const auto& kernel : builtin_kernels()) {
    SCOPED_TRACE(kernel->description().name);
    body(*kernel);
  }
}

template <class Body>
void for_each_kernel_and_dtype(Body&& body) {
  for_each_kernel([&](const Kernel& kernel) {
    for (const char* dtype : {"f32", "f64"}) {
      SCOPED_TRACE(dtype);
      body(kernel, std::string(dtype));
    }
  });
}

// ---- Registry -----------------------------------------------------------------------------------

TEST(Registry, NamesAreUniqueAndSayThatTheKernelIsBuiltIn) {
  std::set<std::string> names;
  for_each_kernel([&](const Kernel& kernel) {
    EXPECT_THAT(kernel.description().name, StartsWith("builtin:"));
    EXPECT_TRUE(names.insert(kernel.description().name).second);
  });
  EXPECT_FALSE(names.empty());
}

TEST(Registry, EveryKernelIsFoundByItsNameAndNoOther) {
  for_each_kernel([](const Kernel& kernel) {
    const std::string& name = kernel.description().name;
    EXPECT_EQ(find_builtin(name), &kernel);
    EXPECT_EQ(find_builtin(name.substr(name.find(':') + 1)), nullptr);
    EXPECT_EQ(find_builtin(name + " "), nullptr);
  });
  EXPECT_EQ(find_builtin(""), nullptr);
  EXPECT_EQ(find_builtin("builtin:"), nullptr);
}

TEST(Registry, TheOrderIsStable) {
  EXPECT_EQ(builtin_kernels().data(), builtin_kernels().data());
  EXPECT_EQ(builtin_kernels().front()->description().name, make_textbook()->description().name);
}

// ---- Worked examples ----------------------------------------------------------------------------

/// An example of shared/data/seed/online-softmax-examples.json; its inputs are stored as float.
struct Example {
  std::string shape, mask;
  std::vector<float> q, k, v;
  std::vector<double> output;
  double tolerance = 0;
};

/// Under every tiling: tiles, kv splits (more than keys, and empty ones) and merge orders.
void expect_example(const Example& example) {
  for_each_kernel_and_dtype([&](const Kernel& kernel, const std::string& dtype) {
    for (const char* tile : {"1", "2", "3x4", "16"})
      for (const char* split : {"1", "2", "3", "9", "at:0,1,1,4"})
        for (const char* merge : {"left", "right", "balanced", "random:1", "random:2"}) {
          const std::string line = example.shape + " " + dtype + " mask=" + example.mask +
                                   " tile=" + tile + " split=" + split + " merge=" + merge;
          SCOPED_TRACE(line);
          Case read = random_case(line);
          const auto copy = [](const std::vector<float>& from, Tensor& to) {
            auto next = from.begin();
            Case::fill(to, [&] { return static_cast<double>(*next++); });
            EXPECT_EQ(next, from.end());
          };
          copy(example.q, read.q);
          copy(example.k, read.k);
          copy(example.v, read.v);
          read.run(kernel);
          const std::vector<double> output = values_of(read.out);
          ASSERT_EQ(output.size(), example.output.size());
          for (std::size_t i = 0; i < output.size(); ++i)
            EXPECT_NEAR(output[i], example.output[i], example.tolerance) << i;
        }
  });
}

TEST(EveryKernel, GivesThePrintedOutputOfTheDenseExample) {
  expect_example({.shape = "1x1:2x4:2",
                  .mask = "none",
                  .q = {1, 0, 0, 1},
                  .k = {1, 0, 0, 1, 1, 1, -1, 0},
                  .v = {1, 2, 3, 4, 5, 6, 7, 8},
                  .output = {3.35541, 4.35541, 4.0, 5.0},
                  .tolerance = 6e-6});
}

TEST(EveryKernel, GivesThePrintedOutputOfTheCausalExample) {
  expect_example({.shape = "1x1:6x6:2",
                  .mask = "causal:tl",
                  .q = {0.5, -1, 1, 0.5, -0.5, 0.5, 2, 0, 0, -2, 1, 1},
                  .k = {1, 0, 0, 1, -1, 1, 0.5, 0.5, 2, -1, 0, 0},
                  .v = {1, 0, 0, 1, 1, 1, -1, 2, 3, -1, 0.5, 0.5},
                  .output = {1.0, 0.0, 0.587479, 0.412521, 0.657204, 0.830978, 0.31529, 0.717633,
                             2.148492, -0.43346, 0.75, 0.549444},
                  .tolerance = 1e-6});
}

TEST(EveryKernel, GivesThePrintedOutputOfScoresThatOverflowAPlainExp) {
  expect_example({.shape = "1x1:1x4:3",
                  .mask = "none",
                  .q = {40, 40, 0},
                  .k = {40, 40, 0, -40, 40, 0, 40, 39.9F, 0, 0, -40, 40},
                  .v = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1},
                  .output = {0.90965, 0.0, 0.09035},
                  .tolerance = 3e-5});
}

// ---- Errors -------------------------------------------------------------------------------------

/// A way to call a kernel wrongly, and a part of the message that says so.
struct WrongCall {
  const char* message;
  std::function<void(Problem&, Tiling&, ForwardViews&)> change;
};

const std::vector<WrongCall>& wrong_calls() {
  static const std::vector<WrongCall> all{
      {"multiple of key/value heads", [](Problem& p, Tiling&, ForwardViews&) { p.heads_kv = 3; }},
      {"head_dim", [](Problem& p, Tiling&, ForwardViews&) { p.head_dim_v = 0; }},
      {"key length",
       [](Problem& p, Tiling&, ForwardViews&) {
         p.key_lengths = {6, 1};
       }},
      {"tiles", [](Problem&, Tiling& t, ForwardViews&) { t.tile_kv = 0; }},
      {"tiles", [](Problem&, Tiling& t, ForwardViews&) { t.tile_q = -1; }},
      {"splits", [](Problem&, Tiling& t, ForwardViews&) { t.splits.count = 0; }},
      {"cuts",
       [](Problem&, Tiling& t, ForwardViews&) {
         t.splits.cuts = {3, 2};
       }},
      {"cuts", [](Problem&, Tiling& t, ForwardViews&) { t.splits.cuts = {6}; }},
      {"q has another dtype", [](Problem&, Tiling&, ForwardViews& v) { v.q.dtype = Dtype::f64; }},
      {"v has another dtype", [](Problem&, Tiling&, ForwardViews& v) { v.v.dtype = Dtype::f64; }},
      {"out has another dtype",
       [](Problem&, Tiling&, ForwardViews& v) { v.out.dtype = Dtype::f64; }},
      {"lse has another dtype",
       [](Problem&, Tiling&, ForwardViews& v) { v.lse.dtype = Dtype::f64; }},
      {"q has other extents", [](Problem&, Tiling&, ForwardViews& v) { v.q.extents[2] = 2; }},
      {"k has other extents", [](Problem&, Tiling&, ForwardViews& v) { v.k.extents[1] = 4; }},
      {"v has other extents", [](Problem&, Tiling&, ForwardViews& v) { v.v.extents[0] = 1; }},
      {"out has other extents", [](Problem&, Tiling&, ForwardViews& v) { v.out.extents[3] = 1; }},
      {"lse has other extents", [](Problem&, Tiling&, ForwardViews& v) { v.lse.extents[3] = 2; }},
      {"q is null", [](Problem&, Tiling&, ForwardViews& v) { v.q.data = nullptr; }},
      {"k is null", [](Problem&, Tiling&, ForwardViews& v) { v.k.data = nullptr; }},
      {"v is null", [](Problem&, Tiling&, ForwardViews& v) { v.v.data = nullptr; }},
      {"out is null", [](Problem&, Tiling&, ForwardViews& v) { v.out.data = nullptr; }},
      {"lse is null", [](Problem&, Tiling&, ForwardViews& v) { v.lse.data = nullptr; }},
  };
  return all;
}

TEST(EveryKernel, RefusesAWrongCallAndWritesNothing) {
  for_each_kernel([](const Kernel& kernel) {
    for (const WrongCall& wrong : wrong_calls()) {
      Case drawn = random_case("2x4/2:3x5:2 f32 lse=ln");
      Problem problem = drawn.problem;
      ForwardViews views = drawn.views();
      wrong.change(problem, drawn.tiling, views);
      const Status status = kernel.forward(problem, drawn.tiling, views);
      EXPECT_EQ(status.code(), StatusCode::invalid_argument) << wrong.message;
      EXPECT_THAT(status.message(), HasSubstr(wrong.message));
      EXPECT_TRUE(is_untouched(drawn.out) && is_untouched(drawn.lse)) << wrong.message;
    }
  });
}

TEST(EveryKernel, ThatMergesRefusesATreeThatDoesNotFitAndWritesNothing) {
  const Index merge = MergeTree::merge;
  const std::vector<std::vector<Index>> trees{
      {},                                           // no leaf
      {0},                                          // not all leaves
      {0, 0, merge},                                // a leaf twice
      {0, 1, merge, 2, merge, 3, merge, 4, merge},  // more leaves than any unit has
      {0, merge, 1},                                // a merge of one
      {0, 1, 2, 3},                                 // never joined
      {0, 1, merge, std::numeric_limits<Index>::max(), merge}};
  for_each_kernel([&](const Kernel& kernel) {
    if (!kernel.description().capabilities.kv_splits) return;
    for (const auto& steps : trees) {
      Case drawn = random_case("1x1:2x4:2 f32 lse=ln tile=1 split=4");
      drawn.tiling.merge = {MergeOrder::Kind::explicit_tree, 0, {steps}};
      EXPECT_EQ(drawn.forward(kernel).code(), StatusCode::invalid_argument);
      EXPECT_TRUE(is_untouched(drawn.out) && is_untouched(drawn.lse));
    }
  });
}

// ---- Rows without visible keys ------------------------------------------------------------------

/// In 2x2:4x{2,0} with causal:br member 1 has no key, and queries 0 and 1 of member 0 see none.
bool has_keys(Index b, Index query) {
  return b == 0 && query >= 2;
}

TEST(EveryKernel, WritesZeroAndMinusInfinityForARowWithoutVisibleKeys) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    for (const char* tiling : {"tile=1 split=3", "tile=2", "tile=16 split=9 merge=balanced"}) {
      Case drawn = random_case("2x2:4x{2,0}:3/2 " + dtype + " lse=ln mask=causal:br " + tiling);
      drawn.run(kernel);
      for_each_index(drawn.out.extents(), [&](Index b, Index h, Index query, Index c) {
        const double output = drawn.out.get(b, h, query, c);
        const double lse = drawn.lse.get(b, h, query, 0);
        if (has_keys(b, query)) {
          EXPECT_TRUE(output != 0 && std::isfinite(output) && std::isfinite(lse));
        } else {
          EXPECT_TRUE(output == 0 && !std::signbit(output) && lse == -kInfinity);
        }
      });
    }
  });
}

TEST(EveryKernel, RejectsTheFirstRowWithoutVisibleKeysAndWritesNothing) {
  const std::vector<std::pair<std::string, RowIndex>> problems{
      {"2x2:4x{2,0}:3 f32 mask=causal:br", {0, 0, 0}},
      {"3x2:2x{2,0,1}:3 f32", {1, 0, 0}},
      {"2x2:4x3:1 f32 mask=bits:111/100/000/000", {0, 0, 2}},
      {"2x1:3x{4,1}:1 f64 mask=causal:br", {1, 0, 0}},
      {"1x1:2x0:1 f64", {0, 0, 0}}};
  for_each_kernel([&](const Kernel& kernel) {
    for (const auto& [line, row] : problems) {
      SCOPED_TRACE(line);
      Case drawn = random_case(line + " lse=ln empty=reject");
      const Status status = drawn.forward(kernel);
      EXPECT_EQ(status.code(), StatusCode::all_masked_row);
      EXPECT_EQ(status.row(), row);
      EXPECT_TRUE(is_untouched(drawn.out) && is_untouched(drawn.lse));
    }
  });
}

TEST(EveryKernel, RejectsNothingWhereEveryRowSeesAKey) {
  for_each_kernel([](const Kernel& kernel) {
    Case zero = random_case("2x2:3x{4,3}:2 f32 lse=ln mask=causal:br");
    Case reject = random_case("2x2:3x{4,3}:2 f32 lse=ln mask=causal:br empty=reject");
    zero.run(kernel);
    reject.run(kernel);
    EXPECT_EQ(reject.out.bytes(), zero.out.bytes());
    EXPECT_EQ(reject.lse.bytes(), zero.lse.bytes());
    Case none = random_case("1x1:0x0:2 f32 lse=ln empty=reject");  // no row at all
    none.run(kernel);
  });
}

// ---- What is written and what is read -----------------------------------------------------------

TEST(EveryKernel, WritesNoLseUnlessAskedAndTheSameOutputEitherWay) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    const std::string line = "2x2:4x{3,0}:3/2 " + dtype + " mask=causal:br";
    Case without = random_case(line);
    without.run(kernel);  // with a null lse
    Case with = random_case(line + " lse=ln");
    with.run(kernel);
    EXPECT_EQ(without.out.bytes(), with.out.bytes());
    without.clear();
    ForwardViews views = without.views();
    views.lse = without.lse.ref();
    EXPECT_TRUE(kernel.forward(without.problem, without.tiling, views).ok());
    EXPECT_TRUE(is_untouched(without.lse));
    EXPECT_EQ(without.out.bytes(), with.out.bytes());
  });
}

/// A copy with other strides: columns outermost, `gap` elements apart.
Tensor scattered(const Tensor& from, Index gap) {
  const Extents& extents = from.extents();
  const Strides strides{gap, gap * extents[0], gap * extents[0] * extents[1],
                        gap * extents[0] * extents[1] * extents[2]};
  Tensor to(from.dtype(), extents, strides, strides[3] * extents[3]);
  for_each_index(extents, [&](Index b, Index h, Index row, Index column) {
    to.set(b, h, row, column, from.get(b, h, row, column));
  });
  return to;
}

/// A view of the same elements from last to first: all strides are negative.
template <class View>
View reversed(View view) {
  Index last = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    last += (view.extents[axis] - 1) * view.strides[axis];
    view.strides[axis] = -view.strides[axis];
  }
  const auto bytes = last * static_cast<Index>(size_of(view.dtype));
  using Byte = std::conditional_t<std::is_same_v<View, TensorRef>, std::byte, const std::byte>;
  view.data = static_cast<Byte*>(view.data) + bytes;
  return view;
}

void reverse(Tensor& tensor) {
  std::vector<double> values = values_of(tensor);
  Case::fill(tensor, [&] {
    const double value = values.back();
    values.pop_back();
    return value;
  });
}

TEST(EveryKernel, GivesTheSameBitsForAnyStrides) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    Case dense =
        random_case("2x4/2:3x5:3/2 " + dtype + " lse=ln mask=causal:br+bits:11011 tile=2 split=2");
    Case strided = dense;
    dense.run(kernel);
    for (Tensor* tensor : {&strided.q, &strided.k, &strided.v, &strided.out, &strided.lse})
      *tensor = scattered(*tensor, 3);
    const std::vector<std::byte> before = strided.out.bytes();
    strided.run(kernel);
    EXPECT_EQ(values_of(strided.out), values_of(dense.out));
    EXPECT_EQ(values_of(strided.lse), values_of(dense.lse));
    // Only the elements were written, and not the gaps between them.
    strided.clear();
    EXPECT_EQ(strided.out.bytes(), before);
  });
}

TEST(EveryKernel, GivesTheSameBitsForNegativeStrides) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    Case forward = random_case("2x4/2:3x5:3/2 " + dtype + " lse=ln tile=2 split=2");
    Case backward = forward;
    forward.run(kernel);
    for (Tensor* tensor : {&backward.q, &backward.k, &backward.v}) reverse(*tensor);
    const ForwardViews views = backward.views();
    const Status status = kernel.forward(backward.problem, backward.tiling,
                                         {reversed(views.q), reversed(views.k), reversed(views.v),
                                          reversed(views.out), reversed(views.lse)});
    EXPECT_TRUE(status.ok()) << status.message();
    for (Tensor* tensor : {&backward.out, &backward.lse}) reverse(*tensor);
    EXPECT_EQ(values_of(backward.out), values_of(forward.out));
    EXPECT_EQ(values_of(backward.lse), values_of(forward.lse));
  });
}

TEST(EveryKernel, ReadsOneElementManyTimesThroughStridesOfZero) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    Case dense = random_case("2x2:2x4:3/2 " + dtype + " lse=ln");
    for (Tensor* tensor : {&dense.k, &dense.q}) Case::fill(*tensor, [] { return 0.75; });
    Case broadcast = dense;
    dense.run(kernel);
    ForwardViews views = broadcast.views();
    views.q.strides = views.k.strides = {0, 0, 0, 0};
    EXPECT_TRUE(kernel.forward(broadcast.problem, broadcast.tiling, views).ok());
    EXPECT_EQ(broadcast.out.bytes(), dense.out.bytes());
    EXPECT_EQ(broadcast.lse.bytes(), dense.lse.bytes());
  });
}

TEST(EveryKernel, NeverReadsWhatAnExcludedKeyHolds) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    for (const double special : {kNan, kInfinity, -kInfinity}) {
      Case clean = random_case("1x2:3x{4}:2 " + dtype + " lse=ln tile=2 split=2 mask=bits:1011");
      Case poisoned = clean;
      clean.run(kernel);
      for (Index c = 0; c < 2; ++c) {
        poisoned.k.set(0, 1, 1, c, special);
        poisoned.v.set(0, 1, 1, c, special);
      }
      poisoned.run(kernel);
      EXPECT_EQ(poisoned.out.bytes(), clean.out.bytes());
      EXPECT_EQ(poisoned.lse.bytes(), clean.lse.bytes());
    }
  });
}

// ---- Special values -----------------------------------------------------------------------------

/// Queries 0, 1 and 2 see every key but that of their own number; query 3 sees key 3 alone.
const char* const kSpecialMask = " lse=ln mask=bits:01111/10111/11011/00010 ";

/// What `apply` changes makes `columns` of `queries` NaN, and the lse of these queries as well.
struct Poison {
  const char* name;
  std::function<void(Case&)> apply;
  std::set<Index> queries;
  std::set<Index> columns;
  bool lse_too = true;
};

TEST(EveryKernel, ShowsANanOfAVisibleScoreOrValueInTheRowsThatSeeItOnly) {
  const std::set<Index> all_columns{0, 1};
  const std::vector<Poison> poisons{
      {"a value of key 1", [](Case& c) { c.v.set(0, 0, 1, 1, kNan); }, {0, 2}, {1}, false},
      {"k of key 2", [](Case& c) { c.k.set(0, 0, 2, 0, kNan); }, {0, 1}, all_columns},
      {"k of key 3", [](Case& c) { c.k.set(0, 0, 3, 2, kNan); }, {0, 1, 2, 3}, all_columns},
      {"q of query 2", [](Case& c) { c.q.set(0, 0, 2, 1, kNan); }, {2}, all_columns},
      {"a score of +inf of query 3",
       [](Case& c) { c.q.set(0, 0, 3, 0, std::copysign(kInfinity, c.k.get(0, 0, 3, 0))); },
       {3},
       all_columns}};
  for_each_kernel_and_dtype([&](const Kernel& kernel, const std::string& dtype) {
    for (const char* tiling : {"tile=1", "tile=2 split=2", "tile=16", "tile=1 split=5 merge=right",
                               "tile=2 split=9 merge=random:3"}) {
      SCOPED_TRACE(tiling);
      Case clean = random_case("1x1:4x5:3/2 " + dtype + kSpecialMask + tiling);
      clean.run(kernel);
      for (const Poison& poison : poisons) {
        SCOPED_TRACE(poison.name);
        Case poisoned = random_case("1x1:4x5:3/2 " + dtype + kSpecialMask + tiling);
        poison.apply(poisoned);
        poisoned.run(kernel);
        const auto compare = [](double got, double was, bool is_nan) {
          if (is_nan) {
            EXPECT_TRUE(std::isnan(got)) << got;
          } else {
            EXPECT_EQ(got, was);
          }
        };
        for_each_index(clean.out.extents(), [&](Index b, Index h, Index query, Index c) {
          const bool sees = poison.queries.contains(query);
          compare(poisoned.out.get(b, h, query, c), clean.out.get(b, h, query, c),
                  sees && poison.columns.contains(c));
          compare(poisoned.lse.get(b, h, query, 0), clean.lse.get(b, h, query, 0),
                  sees && poison.lse_too);
        });
      }
    }
  });
}

TEST(EveryKernel, AcceptsProblemsWithoutRows) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    for (const char* shape : {"0x2:3x4:2 ", "2x2:0x4:2 ", "2x1:0x0:2 "}) {
      Case none = random_case(shape + dtype + " lse=ln");
      none.run(kernel);
      EXPECT_TRUE(none.out.bytes().empty());
      ForwardViews views = none.views();
      views.q.data = views.out.data = views.lse.data = nullptr;
      EXPECT_TRUE(kernel.forward(none.problem, none.tiling, views).ok()) << shape;
    }
  });
}

TEST(EveryKernel, GivesZerosWhereThereAreNoKeys) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    Case none = random_case("2x2:3x0:2 " + dtype + " lse=ln split=3");
    ForwardViews views = none.views();
    views.k.data = views.v.data = nullptr;
    EXPECT_TRUE(kernel.forward(none.problem, none.tiling, views).ok());
    EXPECT_EQ(values_of(none.out), std::vector<double>(24, 0.0));
    EXPECT_EQ(values_of(none.lse), std::vector<double>(12, -kInfinity));
  });
}

}  // namespace
}  // namespace attest::kernels
