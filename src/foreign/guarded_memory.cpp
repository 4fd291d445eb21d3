#include "foreign/guarded_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "foreign/frames.hpp"
#include "foreign/wire_tensor.hpp"

namespace attest::foreign {
namespace {

/// NaN in every element type: what is read beside a tensor does not go unseen either.
constexpr std::byte kPattern{0xff};

std::size_t page_bytes() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

bool is_pattern(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == kPattern; });
}

}  // namespace

Result<GuardedBlock> GuardedBlock::make(std::size_t bytes) {
  const std::size_t page = page_bytes();
  const std::size_t aligned = rounded_up(std::max<std::size_t>(bytes, 1), kDataAlignment);
  const std::size_t own = rounded_up(aligned, page);
  GuardedBlock block;
  block.pages_bytes_ = own + 2 * page;
  void* const pages = ::mmap(nullptr, block.pages_bytes_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return Status{StatusCode::io_error, std::string("no memory: ") + std::strerror(errno)};
  block.pages_ = static_cast<std::byte*>(pages);
  block.data_ = block.pages_ + page + own - aligned;
  block.size_ = bytes;
  std::fill(block.pages_ + page, block.data_, kPattern);
  std::fill(block.data_ + bytes, block.pages_ + page + own, kPattern);
  ::mprotect(block.pages_, page, PROT_NONE);
  ::mprotect(block.pages_ + page + own, page, PROT_NONE);
  return block;
}

Result<GuardedBlock> GuardedBlock::make_far(const Extents& extents, const Strides& strides,
                                            std::size_t element_bytes) {
  WireTensor form;
  form.extents = extents;
  form.strides = strides;
  form.element_bytes = element_bytes;
  const auto span = form.span_bytes();
  const std::size_t page = page_bytes();
  GuardedBlock block;
  block.size_ = static_cast<std::size_t>(span.value_or(0));
  block.pages_bytes_ = rounded_up(block.size_, page) + 2 * page;
  void* const pages = !span ? MAP_FAILED
                            : ::mmap(nullptr, block.pages_bytes_, PROT_NONE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return Status{StatusCode::io_error, "no address space for a tensor"};
  block.pages_ = static_cast<std::byte*>(pages);
  block.data_ = block.pages_ + page;
  for_each_element(extents, strides, strides, element_bytes, [&](Index at, Index) {
    const std::size_t first = page + static_cast<std::size_t>(at);
    block.far_pages_.insert(first / page * page);
    block.far_pages_.insert((first + element_bytes - 1) / page * page);
  });
  block.set_read_only(false);
  return block;
}

GuardedBlock::GuardedBlock(GuardedBlock&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)),
      pages_bytes_(other.pages_bytes_),
      data_(other.data_),
      size_(other.size_),
      far_pages_(std::move(other.far_pages_)) {}

GuardedBlock& GuardedBlock::operator=(GuardedBlock&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(pages_bytes_, other.pages_bytes_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(far_pages_, other.far_pages_);
  return *this;
}

GuardedBlock::~GuardedBlock() {
  if (pages_ != nullptr) ::munmap(pages_, pages_bytes_);
}

void GuardedBlock::set_read_only(bool read_only) const {
  const std::size_t page = page_bytes();
  const int allowed = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  if (far_pages_.empty()) ::mprotect(pages_ + page, pages_bytes_ - 2 * page, allowed);
  for (const std::size_t at : far_pages_) ::mprotect(pages_ + at, page, allowed);
}

bool GuardedBlock::written_before() const {
  return far_pages_.empty() && !is_pattern({pages_ + page_bytes(), data_});
}

bool GuardedBlock::written_behind() const {
  return far_pages_.empty() && !is_pattern({data_ + size_, pages_ + pages_bytes_ - page_bytes()});
}

bool GuardedBlock::owns(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  return at >= pages_ && at < pages_ + pages_bytes_;
}

Beside GuardedBlock::side_of(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  if (at < data_) return Beside::before;
  return at < data_ + size_ ? Beside::inside : Beside::behind;
}

}  // namespace attest::foreign
