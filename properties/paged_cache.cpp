#include "properties/paged_cache.hpp"

#include <algorithm>
#include <limits>

namespace attest::properties {

PagedCache::PagedCache(const CacheShape& shape)
    : shape_(shape),
      k_(Dtype::f32, {shape.pages, shape.heads_kv, shape.page_size, shape.head_dim}),
      v_(Dtype::f32, {shape.pages, shape.heads_kv, shape.page_size, shape.head_dim_v}),
      users_(static_cast<std::size_t>(shape.pages)) {}

Index PagedCache::free_pages() const {
  return std::count(users_.begin(), users_.end(), Index{0});
}

Index PagedCache::begin() {
  sequences_[next_sequence_] = {};
  return next_sequence_++;
}

Result<Index> PagedCache::take_page() {
  const auto found = std::find(users_.begin(), users_.end(), Index{0});
  if (found == users_.end()) return invalid_argument("no page of the cache is free");
  *found = 1;
  return static_cast<Index>(found - users_.begin());
}

void PagedCache::copy_slots(Index from, Index to, Index slots) {
  for (Tensor* tensor : {&k_, &v_})
    for (Index h = 0; h < shape_.heads_kv; ++h)
      for (Index slot = 0; slot < slots; ++slot)
        for (Index c = 0; c < tensor->extents()[3]; ++c)
          tensor->set(to, h, slot, c, tensor->get(from, h, slot, c));
}

Result<Index> PagedCache::page_to_write(Sequence& sequence) {
  const Index filled = sequence.length % shape_.page_size;
  if (filled == 0) {
    Result<Index> fresh = take_page();
    if (fresh.ok()) sequence.pages.push_back(fresh.value());
    return fresh;
  }
  const Index last = sequence.pages.back();
  if (!must_copy(last)) return last;
  Result<Index> fresh = take_page();
  if (!fresh.ok()) return fresh;
  copy_slots(last, fresh.value(), copied_slots(filled));
  release(last);
  sequence.pages.back() = fresh.value();
  return fresh;
}

Status PagedCache::append(Index sequence, const Token& token) {
  Sequence& grows = sequences_.at(sequence);
  const Result<Index> page = page_to_write(grows);
  if (!page.ok()) return page.status();
  const Index slot = grows.length % shape_.page_size;
  const auto write = [&](Tensor& tensor, const std::vector<double>& numbers) {
    const Index columns = tensor.extents()[3];
    for (Index h = 0; h < shape_.heads_kv; ++h)
      for (Index c = 0; c < columns; ++c)
        tensor.set(page.value(), h, slot, c, numbers[static_cast<std::size_t>(h * columns + c)]);
  };
  write(k_, token.k);
  write(v_, token.v);
  ++grows.length;
  return {};
}

Index PagedCache::fork(Index sequence) {
  const Sequence same = sequences_.at(sequence);
  for (const Index page : same.pages) set_users(page, users(page) + 1);
  sequences_[next_sequence_] = same;
  return next_sequence_++;
}

void PagedCache::evict(Index sequence) {
  for (const Index page : sequences_.at(sequence).pages) release(page);
  sequences_.erase(sequence);
}

void PagedCache::poison_unused() {
  std::vector<Index> filled(users_.size());  // slots that some sequence holds
  for (const auto& [name, sequence] : sequences_)
    for (std::size_t i = 0; i < sequence.pages.size(); ++i) {
      const Index in_page = sequence.length - static_cast<Index>(i) * shape_.page_size;
      Index& most = filled[static_cast<std::size_t>(sequence.pages[i])];
      most = std::max(most, std::min(in_page, shape_.page_size));
    }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Tensor* tensor : {&k_, &v_})
    for_each_index(tensor->extents(), [&](Index page, Index h, Index slot, Index c) {
      if (slot >= filled[static_cast<std::size_t>(page)]) tensor->set(page, h, slot, c, nan);
    });
}

}  // namespace attest::properties
