// The one-line problem: the same text on the command line, in files, in reports and in replays.
//
//   BxHq[/Hkv]:LqxLk:d[/dv] TYPES [key=value ...]
//   2x8/2:97x{1025,0}:64 bf16 mask=causal:br win=127:0 lse=ln tile=16x64 split=4 merge=random:7
//   vals=ascending:3
//
// Lq and Lk may be lists {n,...} with one length a batch member; then B may be written as *.
// TYPES is the dtype of q, k and v, or q/k, or q/k/v: bf16, bf16/e4m3, bf16/e4m3/e5m2.
//
//   key     | values                                                    | minimal form leaves out
//   mask    | none, or parts joined by +: causal:tl, causal:br,         | none
//           | causal:off=N, prefix:N, chunk:C, doc:LIST, doc:LIST/LIST,  |
//           | bits:ROWS, block:RxC:ROWS, add:NUMBERS/NUMBERS...          |
//   align   | none, tl, br, off=N: diagonal of window and chunk         | none
//   win     | LEFT:RIGHT, inclusive, self not counted; * is no limit    | *:*
//   keep    | first:N, tokens that the window does not drop             | first:0
//   scale   | number, rsqrt                                             | rsqrt
//   cap     | off, number                                               | off
//   bias    | none, [b][h]1d, [b][h]2d, with :DTYPE                     | none
//   alibi   | none, abs|rel|col : br|tl, with :SLOPE,SLOPE...           | none
//   order   | scale,cap,bias,alibi,mask in any order, scale first       | scale,cap,bias,alibi,mask
//   sink    | none, head, one, with :out (the lse does not count it)    | none
//   qv      | no, yes                                                   | no
//   v       | own, view(k)                                              | own
//   descale | none, Q;K;V, each one number or one a (batch, kv head)    | none
//   out     | dtype of the output                                       | that of q; bf16 for fp8
//   empty   | zero, reject, nan, mean, any; with :-inf :inf :N :any     | zero (:-inf)
//   lse     | none, ln, log2, max_sum                                   | none
//   layout  | bshd, bhsd, sbhd, thd; with :pad=N, :col=N                | bshd
//   kv      | dense, leftpad, paged:P, paged:P:N:PAGES/PAGES...         | dense
//           | paged:P:random:SEED                                       |
//   bwd     | none, dq,dk,dv with ,dbias ,dsink ,dlse                   | none
//   tile    | QxKV, N for NxN                                           | 16
//   split   | COUNT, at:CUT,CUT...                                      | 1
//   merge   | left, right, balanced, random:SEED, tree:STEP.STEP...     | left
//   vals    | FAMILY:SEED, lit:Q;K;V[;NAME=NUMBERS][;SEED], real:NAME:SEED | normal:0
//   law     | a law of the catalogue                                    | (none)
//
// ROWS are strings of 0 and 1, one a query (block: one a block of R queries), joined by '/'; a
// single row of bits or numbers serves every query. LIST is one segment number a position: of
// queries and keys alike, or queries/keys. PAGES are the pages of one batch member, joined by ',',
// N the pages of the cache; paged:P alone gives every member the next free pages in order, and
// random:SEED the same pages shuffled, with a few more that hold nothing.
// A word that an order leaves out (bias, alibi, mask) comes after cap.
// A STEP is a leaf number or '+'. Q, K, V of lit: are numbers in the order batch, head, row,
// column; 'nan', 'inf' and '-inf' are numbers. V is empty with v=view(k). NAME is bias, sink, qv,
// dout or dlse, each tensor that the problem has, in this order. real:NAME:0 begins at the first
// row of the file. Numbers of a sink are finite. The SEED of lit: makes no values; laws draw
// choices of their own from it (default 0).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attest/problem.hpp"
#include "attest/tiling.hpp"

namespace attest {

/// Where the values of q, k and v come from.
struct ValueRecipe {
  enum class Kind {
    family,   ///< `name` of a value family and its seed
    literal,  ///< the numbers themselves
    real,     ///< rows of a real tensor file, `name` without ending, chosen by the seed
  };
  Kind kind = Kind::family;
  std::string name = "normal";
  std::uint64_t seed = 0;       ///< of the values, and of what laws choose
  std::vector<double> q, k, v;  ///< of a literal
  /// Of a literal; those of tensors that the problem does not have are empty.
  std::vector<double> bias = {}, sink = {}, qv = {}, dout = {}, dlse = {};

  friend bool operator==(const ValueRecipe&, const ValueRecipe&) = default;
};

/// Everything that one line says.
struct ProblemText {
  Problem problem;
  Tiling tiling;
  ValueRecipe values;
  std::string law;  ///< empty: every law
};

/// Why a text is not a problem, and where.
struct TextError {
  std::string message;
  std::size_t position = 0;  ///< byte offset into the text
};

/// The error as two lines: the text, and a caret under the offending place with the message.
std::string with_caret(std::string_view text, const TextError& error);

/// Parses and validates. On failure `error` is filled and the result is false.
bool parse_problem_text(std::string_view text, ProblemText& result, TextError& error);

/// Leaves out every key that has its default.
std::string minimal_text(const ProblemText& text);

/// Writes every key, defaults included; `law` only when there is one.
std::string canonical_text(const ProblemText& text);

/// Decimal of fewest digits that reads back to the same value of the dtype; the value itself where
/// that is no longer.
std::string number_text(double value, Dtype dtype);

}  // namespace attest
