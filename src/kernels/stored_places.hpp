// Where the rows of one call lie, found in constant time.
#pragma once

#include <vector>

#include "attest/problem.hpp"
#include "kernels/stored_rows.hpp"

namespace attest::kernels {

/// stored_query and stored_key of one problem. Those add up the lengths of all members before; here
/// that is done once.
class StoredPlaces {
 public:
  /// The problem is kept by reference.
  explicit StoredPlaces(const Problem& problem) : problem_(problem) {
    if (problem.layout.order != Layout::Order::thd) return;
    first_query_.reserve(static_cast<std::size_t>(problem.batch));
    first_key_.reserve(static_cast<std::size_t>(problem.batch));
    Index queries = 0;
    Index keys = 0;
    for (Index b = 0; b < problem.batch; ++b) {
      first_query_.push_back(queries);
      first_key_.push_back(keys);
      queries += problem.query_length(b);
      keys += problem.key_length(b);
    }
  }

  StoredRow query(Index b, Index query) const {
    if (first_query_.empty()) return {b, query};
    return {0, first_query_[static_cast<std::size_t>(b)] + query};
  }
  RowPlace query(const RowIndex& row) const {
    const StoredRow at = query(row.batch, row.query);
    return {at.b, row.head, at.row};
  }
  StoredRow key(Index b, Index key) const {
    const bool packed = !first_key_.empty() && problem_.kv.kind == KvStorage::Kind::dense;
    if (!packed) return stored_key(problem_, b, key);
    return {0, first_key_[static_cast<std::size_t>(b)] + key};
  }

 private:
  const Problem& problem_;
  std::vector<Index> first_query_;  ///< per member of a packed batch
  std::vector<Index> first_key_;
};

}  // namespace attest::kernels
