// The one-line problem: the same text on the command line, in files, in reports and in replays.
//
//   BxHq[/Hkv]:LqxLk:d[/dv] dtype [key=value ...]
//   2x8/2:97x{1025,0}:64 f32 mask=causal:br lse=ln tile=16x64 split=4 merge=random:7
//   vals=ascending:3
//
// Lk may be a list {n,...} with one key length a batch member; then B may be written as *.
//
//   key    | values                                                     | minimal form leaves out
//   mask   | none, causal:tl, causal:br, causal:off=N, bits:ROWS, A+B   | none
//   scale  | number, rsqrt                                              | rsqrt
//   empty  | zero, reject                                               | zero
//   lse    | none, ln                                                   | none
//   tile   | QxKV, N for NxN                                            | 16
//   split  | COUNT, at:CUT,CUT...                                       | 1
//   merge  | left, right, balanced, random:SEED, tree:STEP.STEP...      | left
//   vals   | FAMILY:SEED, lit:Q;K;V[;SEED], real:NAME:SEED              | normal:0
//   law    | a law of the catalogue                                     | (none)
//
// ROWS are strings of 0 and 1, one a query, joined by '/'; a single row serves every query.
// A STEP is a leaf number or '+'. Q, K, V of lit: are numbers in the order batch, head, row,
// column; 'nan', 'inf' and '-inf' are numbers. real:NAME:0 begins at the first row of the file. The
// SEED of lit: makes no values; laws draw choices of their own from it (default 0).
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

/// Shortest decimal that reads back to the same value of the dtype.
std::string number_text(double value, Dtype dtype);

}  // namespace attest
