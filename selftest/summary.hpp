// What a matrix says: whether it passed and why not, what each law is worth, how small the
// counterexamples are.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "selftest/matrix.hpp"

namespace attest::selftest {

/// How large the case of a counterexample is.
struct CaseSize {
  Index keys = 0;
  Index queries = 0;
  Index head_dim = 0;  ///< the larger of that of k and that of v
};
CaseSize size_of(const properties::Case& of);

/// A law that brings its own tables needs no case: the size of the one it got says nothing.
bool has_size(const Counterexample& counterexample);

/// Whether a text of the case, with all its numbers, is at most this long.
inline constexpr std::size_t kPrintableLength = 400;
bool is_printable(const Counterexample& counterexample);

/// What one law is worth. Numbers are places in Matrix::bugs.
struct LawPower {
  const Law* law = nullptr;
  std::vector<std::size_t> kills;
  std::vector<std::size_t> only;   ///< killed by no other law, within the cases that were judged
  std::vector<std::size_t> named;  ///< name this law: without it the selftest fails
};

struct Summary {
  std::size_t caught = 0;
  std::vector<std::size_t> survivors;    ///< bugs that no law caught
  std::vector<std::size_t> missed;       ///< caught, but not by the law that they name
  std::vector<const Law*> idle;          ///< laws that caught nothing
  std::vector<std::size_t> accused;      ///< correct kernels with an alarm
  std::vector<std::size_t> unprintable;  ///< bugs whose counterexample is too long to read
  std::vector<LawPower> laws;            ///< in the order of the catalogue
  CaseSize median;                       ///< of each dimension alone
  CaseSize largest;
  std::size_t measured = 0;  ///< counterexamples that the medians are of
  bool passed = false;
};

/// `all_bugs`: whether the matrix has all bugs, so that a law that caught none is a failure.
Summary summarise(const Matrix& matrix, bool all_bugs);

}  // namespace attest::selftest
