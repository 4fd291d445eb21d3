// Where the rows of a problem lie in memory. Everything else in attest speaks of logical rows
// (b, h, i) and keys (b, g, j); a kernel finds them through stored_query and stored_key.
//
// A stored tensor is a TensorView too: (batch or page or 1, head, row or slot, column).
#pragma once

#include <vector>

#include "attest/status.hpp"
#include "attest/tensor_view.hpp"

namespace attest {

struct Problem;

struct Layout {
  /// Physical order of the axes, slowest first; of a paged cache b is the page, s the slot: bshd is
  /// NHD, bhsd is HND.
  enum class Order {
    bshd,
    bhsd,
    sbhd,
    thd,  ///< the rows of all batch members one after the other, nothing between them
  };
  Order order = Order::bshd;
  Index row_padding = 0;    ///< elements between rows of columns that belong to nobody
  Index column_stride = 1;  ///< at least 1

  bool dense_bshd() const { return *this == Layout{}; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

struct KvStorage {
  enum class Kind {
    dense,        ///< key j of member b is row j
    left_padded,  ///< key j of member b is row seq_kv - key_length(b) + j
    paged,        ///< key j is slot j mod page_size of page page_table[b][j / page_size]
  };
  Kind kind = Kind::dense;
  Index page_size = 0;
  Index pages = 0;  ///< pages of the cache; those that no table names hold nothing
  std::vector<std::vector<Index>> page_table;  ///< per batch member, ceil(key_length / page_size)
                                               ///< entries at least; members may share pages

  friend bool operator==(const KvStorage&, const KvStorage&) = default;
};

/// Place of a row in a stored tensor: the first and third index of its view.
struct StoredRow {
  Index b = 0;
  Index row = 0;

  friend bool operator==(const StoredRow&, const StoredRow&) = default;
};

/// Row of q, out, lse (and of their gradients). Precondition: i < query_length(b).
StoredRow stored_query(const Problem& problem, Index b, Index query);

/// Row of k and v. Precondition: j < key_length(b).
StoredRow stored_key(const Problem& problem, Index b, Index key);

/// Extents of stored tensors with `columns` columns.
Extents stored_q_extents(const Problem& problem, Index columns);
Extents stored_kv_extents(const Problem& problem, Index columns);

/// Strides of a layout for stored extents, and the elements that a buffer needs. The order thd has
/// the strides of bshd (its batch extent is 1).
Strides layout_strides(const Layout& layout, const Extents& stored);
Index layout_elements(const Layout& layout, const Extents& stored);

}  // namespace attest
