#include "cli/dump_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace attest::cli {
namespace {

constexpr std::size_t kColumn = 3;

std::vector<Index> in_order(const Extents& extents, const AxisOrder& order) {
  std::vector<Index> shape;
  for (const std::size_t axis : order) shape.push_back(extents[axis]);
  return shape;
}

std::string text_of(const std::vector<Index>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// The same array without axes of extent 1 in front, until `rank` are left.
std::vector<Index> without_leading_ones(std::vector<Index> shape, std::size_t rank) {
  while (shape.size() > rank && shape.front() == 1) shape.erase(shape.begin());
  return shape;
}

bool fits(const std::vector<Index>& shape, const Extents& extents, const AxisOrder& order) {
  std::vector<Index> expected = in_order(extents, order);
  if (without_leading_ones(expected, shape.size()) == shape) return true;
  if (order.back() != kColumn || extents[kColumn] != 1) return false;
  expected.pop_back();
  return without_leading_ones(expected, shape.size()) == shape;
}

Strides strides_of(const Extents& extents, const AxisOrder& order) {
  Strides strides{};
  Index elements = 1;
  for (std::size_t place = order.size(); place-- > 0;) {
    strides[order[place]] = elements;
    elements *= extents[order[place]];
  }
  return strides;
}

Status wrong(const DumpedTensor& array, const std::string& what) {
  return invalid_argument(fmt::format("{}: tensor '{}' {}", array.file, array.name, what));
}

Status wrong_shape(const DumpedTensor& array, const ExpectedTensor& expected) {
  std::string shapes;
  for (const AxisOrder& order : expected.orders) {
    const std::string shape = text_of(in_order(expected.extents, order));
    if (shapes.find(shape) == std::string::npos) shapes += (shapes.empty() ? "" : " or ") + shape;
  }
  std::vector<Index> shown = array.shape();
  shown.resize(std::min<std::size_t>(shown.size(), 8));
  return wrong(array,
               fmt::format("has shape {}, the problem text says {}", text_of(shown), shapes));
}

Result<tensors::Entry> with_type(const DumpedTensor& array, Dtype dtype) {
  if (const auto* const entry = std::get_if<tensors::Entry>(&array.content)) return *entry;
  auto entry = to_entry(std::get<tensors::NpyArray>(array.content), array.name, dtype);
  if (!entry.ok()) return wrong(array, "has " + entry.status().message());
  return entry;
}

}  // namespace

AxisOrder row_order(Layout::Order layout) {
  switch (layout) {
    case Layout::Order::bhsd:
      return {0, 1, 2, 3};
    case Layout::Order::sbhd:
      return {2, 0, 1, 3};
    case Layout::Order::bshd:
    case Layout::Order::thd:
      break;
  }
  return {0, 2, 1, 3};
}

bool is_ambiguous(const DumpedTensor& array, const ExpectedTensor& expected) {
  Index fitting = 0;
  for (const AxisOrder& order : expected.orders)
    if (fits(array.shape(), expected.extents, order)) ++fitting;
  const auto more_than_one = std::count_if(expected.extents.begin(), expected.extents.end(),
                                           [](Index extent) { return extent > 1; });
  return fitting > 1 && more_than_one > 1 && expected.orders.front() != expected.orders.back();
}

Result<Tensor> to_tensor(const DumpedTensor& array, const ExpectedTensor& expected) {
  const auto order = std::find_if(
      expected.orders.begin(), expected.orders.end(),
      [&](const AxisOrder& one) { return fits(array.shape(), expected.extents, one); });
  if (order == expected.orders.end()) return wrong_shape(array, expected);
  const Result<tensors::Entry> entry = with_type(array, expected.dtype);
  if (!entry.ok()) return entry.status();
  const Dtype from = entry.value().dtype;
  const ConstTensorRef source{entry.value().bytes.data(), from, expected.extents,
                              strides_of(expected.extents, *order)};
  Tensor tensor(expected.dtype, expected.extents);
  std::string refused;
  for_each_index(expected.extents, [&](Index b, Index h, Index row, Index column) {
    const double number = number_at(source, b, h, row, column);
    tensor.set(b, h, row, column, number);
    if (from == expected.dtype || !refused.empty()) return;
    if (tensor.get(b, h, row, column) != number && !std::isnan(number))
      refused =
          fmt::format("is {}, and {} in it is no number of {}, which the problem text says",
                      to_string(from), number_text(number, Dtype::f64), to_string(expected.dtype));
  });
  if (!refused.empty()) return wrong(array, refused);
  return tensor;
}

}  // namespace attest::cli
