#include "foreign/worker_call.hpp"

#include <algorithm>
#include <cstring>

#include "foreign/abi_words.hpp"

namespace attest::foreign {
namespace {

std::size_t element_bytes(const ReceivedTensor& form) {
  const auto dtype = number_of(kDtypeWords, form.dtype);
  return dtype ? bytes_of_dtype(static_cast<std::int32_t>(*dtype)) : 0;
}

}  // namespace

bool RequestData::read(std::uint64_t offset, std::span<std::byte> to) const {
  if (shared_ != nullptr) return shared_->read(offset, to);
  if (!to.empty()) std::memcpy(to.data(), frame_.data.data() + offset, to.size());
  return true;
}

Result<WorkerCall> WorkerCall::make(const ReceivedRequest& request, const RequestData& data) {
  WorkerCall call;
  call.forms_ = request.tensors;
  for (const ReceivedTensor& form : call.forms_) {
    Result<GuardedBlock> block = filled(form, data);
    if (!block.ok()) return block.status();
    call.tensors_.push_back({form.name, !form.writable, std::move(block).value()});
  }
  return call;
}

Result<GuardedBlock> WorkerCall::filled(const ReceivedTensor& form, const RequestData& data) {
  const auto bytes = static_cast<std::size_t>(form.bytes);
  const Status missing{StatusCode::io_error, "shared memory is shorter than the request says"};
  if (!form.far_strides) {
    Result<GuardedBlock> block = GuardedBlock::make(bytes);
    if (block.ok() && !data.read(form.offset, block.value().bytes())) return missing;
    return block;
  }
  std::vector<std::byte> near(bytes);
  if (!data.read(form.offset, near)) return missing;
  const std::size_t element = element_bytes(form);
  Result<GuardedBlock> block = GuardedBlock::make_far(form.extents, *form.far_strides, element);
  if (!block.ok()) return block;
  std::byte* const to = block.value().bytes().data();
  for_each_element(
      form.extents, *form.far_strides, form.strides, element,
      [&](Index to_far, Index from) { std::memcpy(to + to_far, near.data() + from, element); });
  return block;
}

void WorkerCall::gather(const ReceivedTensor& form, const GuardedBlock& block, std::byte* to) {
  const std::byte* const from = block.bytes().data();
  if (!form.far_strides) {
    if (form.bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(form.bytes));
    return;
  }
  const std::size_t element = element_bytes(form);
  for_each_element(form.extents, form.strides, *form.far_strides, element,
                   [&](Index near, Index far) { std::memcpy(to + near, from + far, element); });
}

TensorRef WorkerCall::view_in(std::string_view name, std::string_view memory) const {
  const auto named = [&](std::string_view wanted) {
    return std::find_if(forms_.begin(), forms_.end(),
                        [&](const ReceivedTensor& form) { return form.name == wanted; });
  };
  const auto form = named(name);
  const auto place = named(memory);
  if (form == forms_.end() || place == forms_.end()) return {};
  const auto dtype = dtype_from_string(form->dtype);
  if (!dtype) return {};
  const auto number = static_cast<std::size_t>(place - forms_.begin());
  return {tensors_[number].block.bytes().data(), *dtype, form->extents,
          form->far_strides.value_or(form->strides)};
}

std::vector<std::byte> WorkerCall::results(std::vector<ReceivedTensor>& tensors) const {
  std::vector<std::byte> data;
  for (std::size_t i = 0; i < forms_.size(); ++i) {
    if (!forms_[i].writable) continue;
    ReceivedTensor tensor = forms_[i];
    tensor.offset = aligned(data.size());
    data.resize(static_cast<std::size_t>(tensor.offset + tensor.bytes));
    gather(tensor, tensors_[i].block, data.data() + tensor.offset);
    tensors.push_back(std::move(tensor));
  }
  return data;
}

bool WorkerCall::share_results(const SharedFile& shared,
                               std::vector<ReceivedTensor>& tensors) const {
  for (std::size_t i = 0; i < forms_.size(); ++i) {
    const ReceivedTensor& form = forms_[i];
    if (!form.writable) continue;
    std::vector<std::byte> near(form.far_strides ? static_cast<std::size_t>(form.bytes) : 0);
    if (form.far_strides) gather(form, tensors_[i].block, near.data());
    const auto bytes = form.far_strides ? std::span(near) : tensors_[i].block.bytes();
    if (!shared.write(form.offset, bytes)) return false;
    tensors.push_back(form);
  }
  return true;
}

WorkerCall::Guard::Guard(const WorkerCall& call, const WorkerStreams& streams)
    : call_(call), streams_(streams), watched_(call.tensors_), before_(ArithmeticState::now()) {
  for (const GuardedTensor& tensor : call_.tensors_)
    if (tensor.is_input) tensor.block.set_read_only(true);
}

WorkerCall::Guard::~Guard() {
  before_.restore();
}

std::string WorkerCall::Guard::broken() const {
  const ArithmeticState after = ArithmeticState::now();
  for (const GuardedTensor& tensor : call_.tensors_) {
    if (tensor.is_input) continue;
    if (tensor.block.written_behind())
      return "wrote " + std::string(side_text(Beside::behind)) + tensor.name;
    if (tensor.block.written_before())
      return "wrote " + std::string(side_text(Beside::before)) + tensor.name;
  }
  const std::string arithmetic = before_.changes_in(after);
  const std::string printed = streams_.printed();
  return arithmetic.empty() ? printed : arithmetic;
}

}  // namespace attest::foreign
