// Which lengths, layouts and page tables are refused, and why.
#include <gtest/gtest.h>

#include <string>

#include "test_problem.hpp"

namespace attest {
namespace {

TEST(ProblemValidation, RefusesQueryLengthsThatDoNotFitTheBatchOrTheQueries) {
  Problem problem = problem_of(5, 1);
  problem.batch = 3;
  problem.query_lengths = {1, 2};
  EXPECT_EQ(refusal(problem), "query_lengths has 2 entries, the batch has 3");
  problem.query_lengths = {1, 6, 2};
  EXPECT_EQ(refusal(problem), "query length 6 is outside [0, 5]");
  problem.query_lengths = {1, -1, 2};
  EXPECT_EQ(refusal(problem), "query length -1 is outside [0, 5]");
  problem.query_lengths = {0, 5, 2};
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, ALayoutHasNoNegativePaddingAndAStride) {
  Problem problem = problem_of(2, 3);
  problem.layout.row_padding = -1;
  EXPECT_EQ(refusal(problem), "padding of rows must not be negative");
  problem.layout.row_padding = 7;
  EXPECT_EQ(refusal(problem), "not refused");
  for (const Index bad : {Index{0}, Index{-1}, kSmallestIndex}) {
    problem.layout.column_stride = bad;
    EXPECT_EQ(refusal(problem), "the stride of columns must be at least 1");
  }
}

TEST(ProblemValidation, RefusesAStoredTensorOfMoreThanTwoToThe56Elements) {
  const std::string message = "a stored tensor of this problem has more than 2^56 elements";
  Problem problem = problem_of(2, 3);
  problem.layout.row_padding = kLargestIndex;
  EXPECT_EQ(refusal(problem), message);
  problem.layout = {Layout::Order::thd, 0, kLargestIndex};
  EXPECT_EQ(refusal(problem), message);
  problem.layout = {};
  problem.kv = {KvStorage::Kind::paged, kLargestIndex, 1, {{0}}};
  EXPECT_EQ(refusal(problem), message);
  problem.kv = {KvStorage::Kind::paged, 2, kLargestIndex, {{0, 1}}};
  EXPECT_EQ(refusal(problem), message);
}

TEST(ProblemValidation, PackedRowsHaveNoLeftPadding) {
  Problem problem = problem_of(2, 3);
  problem.kv.kind = KvStorage::Kind::left_padded;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.layout.order = Layout::Order::thd;
  EXPECT_EQ(refusal(problem), "packed rows (thd) have no padding: kv=leftpad needs another layout");
  problem.kv = {KvStorage::Kind::paged, 2, 2, {{0, 1}}};
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, OnlyPagedKeysHavePages) {
  Problem problem = problem_of(2, 3);
  problem.kv.pages = 1;
  EXPECT_EQ(refusal(problem), "pages need k and v that are paged");
  problem.kv = {KvStorage::Kind::left_padded, 2, 0, {}};
  EXPECT_EQ(refusal(problem), "pages need k and v that are paged");
}

TEST(ProblemValidation, APageTableHasPagesForEveryKey) {
  Problem problem = problem_of(2, 5);
  problem.batch = 2;
  problem.key_lengths = {5, 1};
  problem.kv = {KvStorage::Kind::paged, 2, 4, {{0, 1, 2}, {3}}};
  EXPECT_EQ(refusal(problem), "not refused");
  problem.kv.page_table = {{0, 1, 2}, {1, 0}};  // shared, and one more than needed
  EXPECT_EQ(refusal(problem), "not refused");
  problem.kv.page_table = {{0, 1, 2}};
  EXPECT_EQ(refusal(problem), "the page table has 1 rows, the batch 2 members");
  problem.kv.page_table = {{0, 1}, {3}};
  EXPECT_EQ(refusal(problem), "batch member 0 has 2 pages, its keys need 3");
  problem.kv.page_table = {{0, 1, 2}, {4}};
  EXPECT_EQ(refusal(problem), "batch member 1 has page 4, the cache 4 pages");
  problem.kv.page_table = {{0, 1, -1}, {3}};
  EXPECT_EQ(refusal(problem), "batch member 0 has page -1, the cache 4 pages");
  problem.kv.page_table = {{0, 2, 0}, {3}};
  EXPECT_EQ(refusal(problem), "batch member 0 has page 0 twice");
  problem.kv.page_size = 0;
  EXPECT_EQ(refusal(problem), "a page must have at least 1 slot");
  problem.kv = {KvStorage::Kind::paged, 2, -1, {{}, {}}};
  EXPECT_EQ(refusal(problem), "the number of pages must not be negative");
}

}  // namespace
}  // namespace attest
