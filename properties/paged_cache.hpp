// A paged cache of keys and values: sequences grow token by token, share pages after a fork, and
// give their pages back. A page that is shared is copied before a token is written into it.
//
// Each decision is one virtual function, so that a cache that is wrong on purpose is this one with
// one of them replaced.
#pragma once

#include <map>
#include <vector>

#include "attest/problem.hpp"
#include "attest/tensor.hpp"

namespace attest::properties {

struct CacheShape {
  Index pages = 16;
  Index page_size = 2;
  Index heads_kv = 1;
  Index head_dim = 2;
  Index head_dim_v = 2;
};

/// The key and the value of one position, head by head.
struct Token {
  std::vector<double> k;  ///< heads_kv x head_dim
  std::vector<double> v;  ///< heads_kv x head_dim_v
};

class PagedCache {
 public:
  explicit PagedCache(const CacheShape& shape);
  PagedCache(const PagedCache&) = delete;
  PagedCache& operator=(const PagedCache&) = delete;
  virtual ~PagedCache() = default;

  const CacheShape& shape() const { return shape_; }

  /// A new sequence without tokens.
  Index begin();
  /// Error: invalid_argument when no page is free; the sequence then stays as it was.
  Status append(Index sequence, const Token& token);
  /// A second sequence with the same tokens, on the same pages.
  Index fork(Index sequence);
  /// Forgets a sequence.
  void evict(Index sequence);
  /// Writes NaN into every slot that holds no token, as a fresh allocation might.
  void poison_unused();

  Index length(Index sequence) const { return sequences_.at(sequence).length; }
  const std::vector<Index>& pages(Index sequence) const { return sequences_.at(sequence).pages; }
  Index free_pages() const;

  /// (page, head, slot, column)
  ConstTensorRef k() const { return k_.ref(); }
  ConstTensorRef v() const { return v_.ref(); }

 protected:
  Index users(Index page) const { return users_[static_cast<std::size_t>(page)]; }
  void set_users(Index page, Index count) { users_[static_cast<std::size_t>(page)] = count; }

  /// Whether a page must be copied before a token is written into it.
  virtual bool must_copy(Index page) const { return users(page) > 1; }
  /// Slots of a page that a copy takes over.
  virtual Index copied_slots(Index filled) const { return filled; }
  /// One sequence less uses the page.
  virtual void release(Index page) { set_users(page, users(page) - 1); }

 private:
  struct Sequence {
    std::vector<Index> pages;
    Index length = 0;
  };

  Result<Index> take_page();
  Result<Index> page_to_write(Sequence& sequence);
  void copy_slots(Index from, Index to, Index slots);

  CacheShape shape_;
  Tensor k_;
  Tensor v_;
  std::vector<Index> users_;  ///< per page: sequences that hold it
  std::map<Index, Sequence> sequences_;
  Index next_sequence_ = 0;
};

}  // namespace attest::properties
