// Trees in which a kernel may add up keys, as the number of keys below the node that joins two.
//
// Method: FPRev (Xie and others, 2024) reads a tree off sums in which two large numbers swamp all
// that is added between them.
#pragma once

#include <string>
#include <vector>

#include "attest/status.hpp"

namespace attest::probe {

/// Keys below the lowest common node of two keys; 1 for a key and itself.
class JoinSizes {
 public:
  explicit JoinSizes(Index keys) : keys_(keys), sizes_(static_cast<std::size_t>(keys * keys), 1) {}
  Index keys() const { return keys_; }
  Index& at(Index left, Index right) {
    return sizes_[static_cast<std::size_t>(left * keys_ + right)];
  }
  Index at(Index left, Index right) const {
    return sizes_[static_cast<std::size_t>(left * keys_ + right)];
  }
  friend bool operator==(const JoinSizes&, const JoinSizes&) = default;

 private:
  Index keys_;
  std::vector<Index> sizes_;
};

/// What the tree is called; where it has no name, the tree in parentheses. Empty: it is no tree.
std::string name_of_shape(const JoinSizes& sizes);

}  // namespace attest::probe
