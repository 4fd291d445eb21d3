// Errors of the keys of attention variants point at the broken part and say why.
#include <gtest/gtest.h>

#include <string>

#include "test_problem_text.hpp"

namespace attest {
namespace {

const std::string kShape = "1x2:2x3:4 f32 ";

TEST(ProblemTextError, PointsAtTheBrokenPartOfAMask) {
  const std::string mask = kShape + "mask=";
  expect_errors({
      {mask + "prefix", "=2", "expected ':' after 'prefix'"},
      {mask + "causal:tl+prefix:", "-1", "the number of keys of the prefix must not be negative"},
      {mask + "causal:tl+chunk:", "0", "a chunk must have at least 1 key"},
      {mask + "causal:tl+chunk:", "", "expected the number of keys of a chunk"},
      {mask + "doc:", "", "expected the number of a document"},
      {mask + "doc:", "0/0,0,0", "the list has 1 document numbers, the problem 2 queries"},
      {mask + "doc:0,0/", "0,0", "the list has 2 document numbers, the problem 3 keys"},
      {mask + "doc:0,0", "",
       "as many keys as queries share one list; here it takes two, as in doc:0,0/0"},
      {mask + "block:", "", "expected the queries of a block, as in block:RxC:ROWS"},
      {mask + "block:2", ":11", "expected 'x' between the queries and keys of a block"},
      {mask + "block:2x2", "/11", "expected ':' between the size and the rows of blocks"},
      {mask + "block:", "0x2:11", "a block must have at least 1 query and 1 key"},
      {mask + "block:1x2:", "1/11",
       "a row of mask bits has 1 characters, the problem 2 blocks of keys"},
      {mask + "block:1x2:11", "", "the block mask has 1 rows, the problem 2 blocks of queries"},
      {mask + "block:2x2:11", "/11", "unexpected text after the value of 'mask'"},
      {mask + "bits:10", "a0", "expected 0 or 1"},
      {mask + "block:1x2:1", "x/11", "expected 0 or 1"},
      {mask + "add:", "", "expected a number of the additive mask"},
      {mask + "add:", "0,0", "a row of the additive mask has 2 numbers, the problem 3 keys"},
      {mask + "add:0,0,0/", "0,0", "a row of the additive mask has 2 numbers, the problem 3 keys"},
      {mask + "add:0,", "inf,0", "a number of the additive mask is finite or -inf"},
      {mask + "add:0,", "nan,0", "a number of the additive mask is finite or -inf"},
      {mask + "add:0,", "-1e39,0", "number does not fit f32"},
      {mask + "add:0,0,0/0,0,0/0,0,0", "",
       "numbers of the additive mask have 3 rows, the problem 2 queries"},
  });
}

TEST(ProblemTextError, PointsAtTheBrokenBand) {
  expect_errors({
      {kShape + "align=", "bl", "expected none, tl, br or off=N"},
      {kShape + "align=off=", "", "expected the offset of the diagonal"},
      {kShape + "win=", "", "expected the keys to the left, a number or *"},
      {kShape + "win=", "-1:0", "the keys to the left must not be negative; no limit is *"},
      {kShape + "win=3", "", "expected ':' between LEFT and RIGHT of a window"},
      {kShape + "win=3:", "-1", "the keys to the right must not be negative; no limit is *"},
      {kShape + "keep=", "2", "expected 'first:' and a number of keys"},
      {kShape + "keep=first:", "-2", "the number of first keys to keep must not be negative"},
  });
}

TEST(ProblemTextError, PointsAtTheBrokenTermOfTheScore) {
  const std::string bias = "expected none, or 1d or 2d after b, h or bh, as in bias=h2d";
  const std::string cap = "the softcap must be a finite number above 0";
  expect_errors({
      {kShape + "cap=", "none", "expected a number or off"},
      {kShape + "cap=", "0", cap},
      {kShape + "cap=", "-1", cap},
      {kShape + "cap=", "inf", cap},
      {kShape + "cap=", "nan", cap},
      {kShape + "cap=", "1e-60", cap},
      {kShape + "cap=", "1e39", "number does not fit f32"},
      {kShape + "bias=b", "", bias},
      {kShape + "bias=h", "b2d", bias},
      {kShape + "bias=2d:", "e4m3", "expected a dtype of the bias: f32, f64, bf16 or f16"},
      {kShape + "bias=", "2d:f64", "a bias of f64 needs q, k and v of f64"},
      {kShape + "alibi=", "std", "expected abs, rel or col"},
      {kShape + "alibi=abs", "", "expected ':' and a corner, br or tl, after the form of ALiBi"},
      {kShape + "alibi=abs:", "", "expected br or tl"},
      {kShape + "alibi=abs:br:", "", "expected a slope"},
      {kShape + "alibi=abs:br:", "0.5", "alibi has 1 numbers, the problem needs 2"},
      {kShape + "alibi=", "abs:br:0.5,inf", "an ALiBi slope must be a finite f32 number"},
      {kShape + "order=", "cap,scale", "expected 'scale' at the beginning of an order"},
      {kShape + "order=scale,", "bais,cap", "expected cap, bias, alibi or mask"},
      {kShape + "order=scale,cap,bias,", "bias", "'bias' is given twice"},
      {kShape + "order=scale,cap,", "cap", "'cap' is given twice"},
      {kShape + "order=scale,bias", "", "an order needs cap"},
      {kShape + "sink=", "zero", "expected none, head or one"},
      {kShape + "sink=head:", "in", "expected 'out' where the lse does not count the sink"},
      {"1x2/1:1x1:1 f32 sink=head vals=lit:1,1;0;1;sink=", "0,-inf",
       "a sink is finite; no sink is sink=none"},
      {"1x2/1:1x1:1 f32 sink=head vals=lit:1,1;0;1;sink=", "nan,0",
       "a sink is finite; no sink is sink=none"},
      {kShape + "qv=", "true", "expected no or yes"},
  });
}

TEST(ProblemTextError, PointsAtTheBrokenStorage) {
  const std::string shape = "2x1:2x{3,1}:4 f32 ";
  expect_errors({
      {shape + "v=", "view", "expected own or view(k)"},
      {shape + "layout=", "bsdh", "expected bshd, bhsd, sbhd or thd"},
      {shape + "layout=thd:", "", "expected pad=N or col=N, each once"},
      {shape + "layout=thd:pad=1:", "pad=2", "expected pad=N or col=N, each once"},
      {shape + "layout=thd:", "col=0", "the stride of columns must be at least 1"},
      {shape + "layout=thd:pad=", "-1", "the padding of rows must not be negative"},
      {shape + "kv=", "ragged", "expected dense, leftpad or paged:P"},
      {shape + "kv=paged:", "0", "a page must have at least 1 slot"},
      {shape + "kv=paged:", "", "expected the number of keys of a page"},
      {shape + "kv=paged:2:", "", "expected the number of pages of the cache, or random:SEED"},
      {shape + "kv=paged:2:random:", "-1", "expected the seed of the page table"},
      {shape + "kv=paged:2:3", "", "expected ':' between the number of pages and the pages"},
      {shape + "kv=paged:2:3:0,1", "", "the page table has 1 rows, the batch 2 members"},
      {shape + "kv=paged:2:3:", "0/1", "batch member 0 has 1 pages, its keys need 2"},
      {shape + "kv=paged:2:3:0,1/", "", "batch member 1 has 0 pages, its keys need 1"},
      {shape + "kv=paged:2:3:0,", "3/1", "page 3 is beyond the 3 pages of the cache"},
      {shape + "kv=paged:2:3:0,", "-1/1", "a page must not be negative"},
      {shape + "kv=paged:2:3:0,1/2,", "2", "a batch member has page 2 twice"},
      {shape + "kv=paged:2:3:0,1/2", "/1", "unexpected text after the value of 'kv'"},
      {shape + "descale=", "", "expected a descale of q, as in descale=Q;K;V, or none"},
      {shape + "descale=1", "", "expected ';' between the descales of q and k"},
      {shape + "descale=1;1;", "", "expected a descale"},
      {shape + "out=", "e4m3", "expected a dtype of the output: f32, f64, bf16 or f16"},
  });
}

TEST(ProblemTextError, PointsAtTheBrokenResult) {
  expect_errors({
      {kShape + "empty=zero:", "", "expected the lse of an empty row, a number or any"},
      {kShape + "empty=zero:", "nan", "the lse of an empty row is no NaN"},
      {kShape + "empty=zero:", "1e39", "number does not fit f32"},
      {kShape + "bwd=", "dq", "expected none or dq,dk,dv, with ,dbias ,dsink ,dlse"},
      {kShape + "bwd=dq,dk,dv,", "dqv", "expected dbias, dsink or dlse, each once"},
      {kShape + "bwd=dq,dk,dv,dlse,", "dlse", "expected dbias, dsink or dlse, each once"},
  });
}

/// Contradictions between keys, with the keys in an order that shows them last or first.
TEST(ProblemTextError, PointsAtTheKeyThatContradictsAnother) {
  const std::string diagonal = "needs a diagonal: mask=causal:... or align=...";
  const std::string f8 = "2x1:2x3:4 e4m3/bf16 ";
  expect_errors({
      {kShape + "win=", "3:0", "a window " + diagonal},
      {kShape + "win=", "*:0 mask=bits:111 lse=ln", "a window " + diagonal},
      {kShape + "lse=ln mask=", "chunk:2", "chunks need a diagonal: mask=causal:... or align=..."},
      {kShape + "align=", "br mask=causal:br",
       "a causal mask has its own diagonal: align must be none"},
      {kShape + "mask=causal:br align=", "tl",
       "a causal mask has its own diagonal: align must be none"},
      {kShape + "mask=causal:br keep=", "first:1",
       "first tokens to keep need a window with a left limit"},
      {kShape + "keep=", "first:1 win=*:0 mask=causal:br",
       "first tokens to keep need a window with a left limit"},
      {kShape + "mask=", "prefix:2", "a prefix needs a causal mask"},
      {kShape + "align=br mask=", "prefix:2 win=1:1", "a prefix needs a causal mask"},
      {kShape + "descale=", "1;1;1", "descales need q, k or v of fp8"},
      {f8 + "descale=", "1;2;1", "k is not of fp8: its descale must be 1"},
      {f8 + "descale=", "1,2,3;1;1",
       "q has 3 descales; it takes one, or one a (batch, kv head) pair"},
      {f8 + "descale=", "0;1;1", "a descale must be an f32 number in [2^-60, 2^60]"},
      {f8 + "descale=", "inf;1;1", "a descale must be an f32 number in [2^-60, 2^60]"},
      {"2x1:2x3:4 e4m3 v=view(k) descale=", "1;2;1", "v as a view of k has the descales of k"},
      {"1x1:2x3:4/5 f32 v=", "view(k)", "v as a view of k has no more columns than k"},
      {"1x1:2x3:4 f32/f32/f16 v=", "view(k)", "v as a view of k has the dtype of k"},
      {kShape + "kv=", "leftpad layout=thd",
       "packed rows (thd) have no padding: kv=leftpad needs another layout"},
      {kShape + "lse=max_sum empty=", "zero:0",
       "an lse as maximum and sum has no other number for an empty row"},
      {kShape + "bwd=", "dq,dk,dv qv=yes", "backward knows no qv term"},
      {"1x1:2x3:4 f32/e4m3 bwd=", "dq,dk,dv", "backward takes no fp8 type"},
      {kShape + "sink=head:out bwd=", "dq,dk,dv", "backward needs an lse that counts the sink"},
      {"1x1:2x536870913:4 f32 alibi=", "abs:br", "ALiBi knows no distance of 2^29 or more"},
      {kShape + "bwd=", "dq,dk,dv empty=mean",
       "backward needs empty rows that are zero or rejected"},
      {kShape + "bwd=", "dq,dk,dv lse=log2", "backward goes with the natural lse, or none"},
      {kShape + "bwd=", "dq,dk,dv,dbias", "dbias needs a bias"},
      {kShape + "bwd=", "dq,dk,dv,dsink", "dsink needs a sink of one logit a head"},
      {kShape + "sink=one bwd=", "dq,dk,dv,dsink", "dsink needs a sink of one logit a head"},
  });
}

TEST(ProblemTextError, PointsAtTheBrokenNumberOfATensor) {
  expect_errors({
      {"1x1:1x1:1 f16 vals=lit:", "65520;0;0", "number does not fit f16"},
      {"1x1:1x1:1 f16/e4m3 vals=lit:0;", "inf;0", "e4m3 has no infinity"},
      {"1x1:1x1:1 f16/e4m3 vals=lit:0;", "-inf;0", "e4m3 has no infinity"},
      {"1x1:1x1:1 f16/e4m3/e5m2 vals=lit:0;nan;", "61441", "number does not fit e5m2"},
      {"1x1:1x1:1 f16/e4m3 vals=lit:0;", "465;0", "number does not fit e4m3"},
      {"1x1:1x1:1 f32 bias=1d vals=lit:0;0;0", "",
       "expected ';bias=' and its numbers, which the problem needs"},
      {"1x1:1x1:1 f32 vals=lit:0;0;0", ";sink=1 sink=head bias=1d",
       "expected ';bias=' and its numbers, which the problem needs"},
      {"1x1:1x1:1 f32 vals=lit:0;0;0;sink=", "1,2 sink=head",
       "sink has 2 numbers, the problem needs 1"},
      {"1x1:1x1:1 f32 sink=one vals=lit:0;0;0;", "sink=1", "expected a seed"},
      {"1x1:1x1:2/1 f32 vals=lit:0,1;0,1;", "0 v=view(k)",
       "unexpected text after the value of 'vals'"},
  });
}

}  // namespace
}  // namespace attest
