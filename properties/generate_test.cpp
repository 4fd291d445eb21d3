// The generator reaches every class, stays valid, and shrinks to the simplest case.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>
#include <string>

#include "mutants/mutants.hpp"
#include "properties/check.hpp"
#include "properties/generate_rapidcheck.hpp"
#include "properties/laws.hpp"
#include "properties/shrink.hpp"
#include "properties/spell_out.hpp"
#include "properties/values.hpp"

namespace attest::properties {
namespace {

constexpr int kCases = 2000;

Case draw_number(int number) {
  SeededDraw draw(mixed_seed(7, 1, static_cast<std::uint64_t>(number)));
  return draw_case(draw, CaseLimits{});
}

std::map<std::string, int> count_classes() {
  std::map<std::string, int> counts;
  for (int number = 0; number < kCases; ++number)
    for (const std::string& name : classes(draw_number(number))) ++counts[name];
  return counts;
}

TEST(Generator, ReachesTheClassesThatBreakKernelsOftenEnough) {
  std::map<std::string, int> counts = count_classes();
  for (const char* const name : {"empty row", "empty tile", "empty split", "mask none",
                                 "mask causal", "mask bits", "seq_q = 1", "grouped heads"})
    EXPECT_GE(counts[name], kCases / 10) << name;
  EXPECT_GE(counts["seq_q != seq_kv"], kCases * 3 / 10);
  EXPECT_GE(counts["ragged"], kCases / 10);
  EXPECT_GE(counts["mask causal+bits"], kCases / 50);
  EXPECT_GE(counts["f32"], kCases * 4 / 10);
  EXPECT_GE(counts["f64"], kCases * 4 / 10);
}

Case draw_any_number(int number) {
  SeededDraw draw(mixed_seed(13, 1, static_cast<std::uint64_t>(number)));
  return draw_case(draw, all_limits());
}

TEST(Generator, ReachesEveryFeatureTypeAndStorageInAThousandCases) {
  constexpr int kAny = 1000;
  std::map<std::string, int> counts;
  for (int number = 0; number < kAny; ++number)
    for (const std::string& name : classes(draw_any_number(number))) ++counts[name];
  for (const Feature feature : all_features())
    EXPECT_GE(counts[std::string(to_string(feature))], 3) << to_string(feature);
  for (const Dtype dtype : kDtypes)
    EXPECT_GE(counts[std::string(to_string(dtype))], kAny / 20) << to_string(dtype);
  for (const char* const name :
       {"layout bshd", "layout bhsd", "layout sbhd", "layout thd", "dense k and v"})
    EXPECT_GE(counts[name], kAny / 100) << name;
  EXPECT_GE(counts["plain"], kAny / 3);
  EXPECT_GE(counts[std::string(to_string(Feature::backward))], kAny / 10);
  EXPECT_GE(counts["seq_q != seq_kv"], kAny * 3 / 10);
  EXPECT_GE(counts["member of length 0"], kAny / 10);
  EXPECT_GE(counts["empty row"], kAny / 10);
}

/// What a problem must have often enough, and in how many of a thousand cases.
struct Rarity {
  const char* name;
  bool (*has)(const Case&);
  int per_thousand;
};

bool some_member(const Problem& problem, bool (*is)(const Problem&, Index)) {
  for (Index b = 0; b < problem.batch; ++b)
    if (is(problem, b)) return true;
  return false;
}

bool has_no_queries(const Problem& problem, Index b) {
  return problem.query_length(b) == 0;
}
bool has_no_keys(const Problem& problem, Index b) {
  return problem.key_length(b) == 0;
}
bool has_nothing(const Problem& problem, Index b) {
  return has_no_queries(problem, b) && has_no_keys(problem, b);
}

bool has_a_longer_table(const Problem& problem, Index b) {
  const KvStorage& kv = problem.kv;
  return kv.kind == KvStorage::Kind::paged &&
         static_cast<Index>(kv.page_table[static_cast<std::size_t>(b)].size()) * kv.page_size >=
             problem.key_length(b) + kv.page_size;
}

constexpr Rarity kRarities[]{
    {"a member without queries",
     [](const Case& c) { return some_member(c.problem, has_no_queries); }, 50},
    {"a member without keys", [](const Case& c) { return some_member(c.problem, has_no_keys); },
     100},
    {"a member without both", [](const Case& c) { return some_member(c.problem, has_nothing); },
     10},
    {"policy reject", [](const Case& c) { return c.problem.all_masked == AllMaskedPolicy::reject; },
     30},
    {"shared pages", [](const Case& c) { return shares_pages(c.problem); }, 5},
    {"a longer page table",
     [](const Case& c) { return some_member(c.problem, has_a_longer_table); }, 10},
    {"bias before softcap", [](const Case& c) { return c.problem.order.bias_before_softcap; }, 10},
    {"ALiBi before softcap", [](const Case& c) { return c.problem.order.alibi_before_softcap; },
     10},
    {"mask before softcap", [](const Case& c) { return c.problem.order.mask_before_softcap; }, 10},
    {"groups of three and more",
     [](const Case& c) { return c.problem.heads_q >= 3 * c.problem.heads_kv; }, 100},
    {"three key/value heads", [](const Case& c) { return c.problem.heads_kv == 3; }, 80},
    {"head_dim of 32 and more", [](const Case& c) { return c.problem.head_dim >= 32; }, 30},
    {"more than 8 queries", [](const Case& c) { return c.problem.seq_q > 8; }, 70},
    {"100 keys and more", [](const Case& c) { return c.problem.seq_kv >= 100; }, 8}};

TEST(Generator, DrawsRareProblemsOftenEnough) {
  constexpr int kThousands = 4;
  std::map<std::string, int> counts;
  for (int number = 0; number < 1000 * kThousands; ++number) {
    const Case drawn = draw_any_number(number);
    for (const Rarity& rarity : kRarities)
      if (rarity.has(drawn)) ++counts[rarity.name];
  }
  for (const Rarity& rarity : kRarities) {
    RecordProperty(rarity.name, counts[rarity.name]);
    EXPECT_GE(counts[rarity.name], kThousands * rarity.per_thousand) << rarity.name;
  }
}

TEST(Generator, DrawsNothingThatAKernelDoesNotDeclare) {
  for (const Feature missing : all_features()) {
    CaseLimits limits = all_limits();
    std::erase(limits.features, missing);
    Capabilities capabilities;
    capabilities.dtypes = limits.dtypes;
    capabilities.features = limits.features;
    for (int number = 0; number < 100; ++number) {
      SeededDraw draw(mixed_seed(17, 1, static_cast<std::uint64_t>(number)));
      const Problem problem = draw_case(draw, limits).problem;
      ASSERT_TRUE(check_support(capabilities, problem).ok())
          << check_support(capabilities, problem).message();
    }
  }
}

TEST(Generator, UsesEveryValueFamily) {
  std::map<std::string, int> counts = count_classes();
  for (const ValueFamily& family : value_families())
    EXPECT_GE(counts["values " + std::string(family.name)], kCases / 50) << family.name;
}

TEST(Generator, CutsRealTensorsToTheShapeOfTheProblem) {
  const auto library = tensors::TensorLibrary::open({ATTEST_DATA_DIR});
  ASSERT_TRUE(library.ok()) << library.status().message();
  CaseLimits limits;
  limits.library = &library.value();
  int real = 0;
  for (int number = 0; number < kCases / 2; ++number) {
    SeededDraw draw(mixed_seed(11, 1, static_cast<std::uint64_t>(number)));
    const Case drawn = draw_case(draw, limits);
    if (drawn.values.kind != ValueRecipe::Kind::real) continue;
    ++real;
    const Result<Case> again = make_case(to_text(drawn), limits.library);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again.value().k.bytes(), drawn.k.bytes());
    EXPECT_FALSE(make_case(to_text(drawn), nullptr).ok());
  }
  EXPECT_GE(real, kCases / 2 / 20);
}

TEST(Generator, SeedZeroOfARealTensorIsTheWholeTensor) {
  const auto library = tensors::TensorLibrary::open({ATTEST_DATA_DIR});
  ASSERT_TRUE(library.ok()) << library.status().message();
  for (const tensors::RealAttention& source : library.value().all()) {
    ProblemText text;
    text.problem = source.problem;
    text.values = {ValueRecipe::Kind::real, source.name, 0, {}, {}, {}};
    const Result<Case> made = make_case(text, &library.value());
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(made.value().q.bytes(), source.q.bytes()) << source.name;
    EXPECT_EQ(made.value().k.bytes(), source.k.bytes()) << source.name;
    EXPECT_EQ(made.value().v.bytes(), source.v.bytes()) << source.name;
  }
}

TEST(Generator, ReachesLengthsAroundATile) {
  std::set<Index> differences;
  std::set<Index> lengths;
  for (int number = 0; number < kCases; ++number) {
    const Case drawn = draw_number(number);
    differences.insert(drawn.problem.seq_kv - drawn.tiling.tile_kv);
    lengths.insert(drawn.problem.seq_kv);
  }
  for (const Index difference : {-1, 0, 1}) EXPECT_TRUE(differences.contains(difference));
  for (const Index length : {0, 1, 2}) EXPECT_TRUE(lengths.contains(length));
}

TEST(Generator, PrintsItsDistribution) {
  for (const auto& [name, count] : count_classes())
    RecordProperty(name, std::to_string(100.0 * count / kCases) + " %");
  rc::check("classes of generated cases", [] {
    const Case drawn = *arbitrary_case(CaseLimits{});
    const std::vector<std::string> found = classes(drawn);
    const auto has = [&](const char* name) {
      return std::find(found.begin(), found.end(), name) != found.end();
    };
    RC_CLASSIFY(has("empty row"), "empty row");
    RC_CLASSIFY(has("empty tile"), "empty tile");
    RC_CLASSIFY(has("empty split"), "empty split");
    RC_CLASSIFY(has("ragged"), "ragged");
    RC_CLASSIFY(has("mask none"), "mask none");
    RC_ASSERT(validate(drawn.problem).ok());
  });
}

void expect_the_same_case(const Case& again, const Case& want, const std::string& line) {
  EXPECT_EQ(again.problem, want.problem) << line;
  EXPECT_EQ(again.tiling, want.tiling) << line;
  for (const CaseTensor& of : case_tensors()) {
    EXPECT_EQ((again.*of.tensor).extents(), (want.*of.tensor).extents()) << of.name << line;
    EXPECT_EQ((again.*of.tensor).bytes(), (want.*of.tensor).bytes()) << of.name << " " << line;
  }
}

void expect_valid(const Case& of) {
  EXPECT_TRUE(validate(of.problem).ok()) << validate(of.problem).message();
  EXPECT_TRUE(validate(of.tiling, of.problem.seq_kv).ok());
  for (const CaseTensor& tensor : case_tensors()) {
    const Extents want = tensor.extents(of.problem);
    EXPECT_EQ((of.*tensor.tensor).extents(), want) << tensor.name;
    if (want == Extents{}) continue;
    EXPECT_EQ((of.*tensor.tensor).dtype(), tensor.dtype(of.problem)) << tensor.name;
  }
}

TEST(Generator, MakesValidCasesWhoseTextMakesThemAgain) {
  for (int number = 0; number < kCases / 4; ++number) {
    for (const Case& drawn : {draw_number(number), draw_any_number(number)}) {
      expect_valid(drawn);
      for (const bool literal : {false, true}) {
        Case given = drawn;
        if (literal) becomes_literal(given);
        for (const std::string& line :
             {minimal_text(to_text(given)), canonical_text(to_text(given))}) {
          ProblemText text;
          TextError error;
          ASSERT_TRUE(parse_problem_text(line, text, error)) << with_caret(line, error);
          const Result<Case> again = make_case(text, nullptr);
          ASSERT_TRUE(again.ok());
          expect_the_same_case(again.value(), drawn, line);
        }
      }
    }
  }
}

TEST(Shrinking, OffersOnlyValidAndSimplerCases) {
  constexpr int kOffered = 1000;  // large tensors have a candidate for every element
  for (int number = 0; number < 40; ++number) {
    for (const Case& drawn : {draw_number(number), draw_any_number(number)}) {
      int offered = 0;
      visit_simpler_cases(drawn, [&](Case&& candidate) {
        ++offered;
        EXPECT_LT(complexity(candidate), complexity(drawn));
        expect_valid(candidate);
        return offered == kOffered;
      });
      EXPECT_GT(offered, 0);
    }
  }
}

void expect_two_keys_and_small_whole_numbers(const Case& smallest) {
  EXPECT_EQ(smallest.problem.seq_kv, 2);
  EXPECT_EQ(smallest.problem.seq_q, 1);
  EXPECT_EQ(smallest.problem.head_dim, 1);
  EXPECT_EQ(smallest.problem.head_dim_v, 1);
  EXPECT_EQ(smallest.problem.rows(), 1);
  for (const Tensor* const tensor : {&smallest.q, &smallest.k, &smallest.v})
    for_each_index(tensor->extents(), [&](Index b, Index h, Index row, Index column) {
      const double value = tensor->get(b, h, row, column);
      EXPECT_TRUE(value == 0 || value == 1) << value;
    });
}

const Kernel& averages_tile_outputs() {
  return *mutants::find("mutant:averages_tile_outputs")->kernel;
}

TEST(Shrinking, TheMergeThatAveragesTileOutputsEndsAtTwoKeysFromEveryStart) {
  const Law& law = *find_law("bound.out");
  int violations = 0;
  for (int number = 0; violations < 25; ++number) {
    ASSERT_LT(number, kCases);
    const Case drawn = draw_number(number);
    const Verdict verdict = check_case(averages_tile_outputs(), law, drawn);
    if (!is_violation(verdict.outcome)) continue;
    ++violations;
    const Shrunk shrunk = shrink(averages_tile_outputs(), law, drawn, verdict, 60);
    EXPECT_TRUE(shrunk.finished);
    expect_two_keys_and_small_whole_numbers(shrunk.smallest);
  }
}

TEST(Shrinking, RapidCheckEndsAtTheSameSmallestCase) {
  const Law& law = *find_law("bound.out");
  Case last_failing;
  const bool holds = rc::check("the average of tile outputs is attention", [&] {
    const Case on = *arbitrary_case(CaseLimits{});
    if (!is_violation(check_case(averages_tile_outputs(), law, on).outcome)) return;
    last_failing = on;
    RC_FAIL("as planted");
  });
  ASSERT_FALSE(holds);
  // RapidCheck stops at the first case none of whose simpler cases fails: the last failure.
  expect_two_keys_and_small_whole_numbers(last_failing);
}

TEST(Shrinking, ATimeLimitOfZeroIsOff) {
  const Law& law = *find_law("bound.out");
  const Case drawn = draw_number(0);
  const Shrunk shrunk = shrink(averages_tile_outputs(), law, drawn, Verdict::fail("as planted"), 0);
  EXPECT_EQ(shrunk.tried, 0);
  EXPECT_EQ(complexity(shrunk.smallest), complexity(drawn));
}

}  // namespace
}  // namespace attest::properties
