// The functions of a plug-in behind Status: one call at a time where it asks for that, no exception
// comes through, and text is one line.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "foreign/description.hpp"

namespace attest::foreign {

class PluginCalls {
 public:
  PluginCalls(const attest_kernel_table& table, bool parallel_calls)
      : table_(table), parallel_calls_(parallel_calls) {}

  bool has_merge() const noexcept { return table_.merge != nullptr; }
  bool has_partial() const noexcept { return table_.partial != nullptr; }
  bool has_backward() const noexcept { return table_.backward != nullptr; }

  // Errors: what the plug-in returns (unsupported, all_masked_row, kernel_failed); kernel_failed
  // for anything else that it does.
  Status forward(const Problem& problem, const Tiling& tiling, const ForwardViews& views,
                 bool with_tiles) const;
  Status backward(const Problem& problem, const Tiling& tiling, const BackwardViews& views,
                  bool with_tiles) const;
  Status partial(const Problem& problem, KeyRange keys, const ForwardViews& inputs,
                 const attest_part& part) const;
  Status merge(const Problem& problem, const attest_part& left, const attest_part& right,
               const attest_part& part) const;
  /// What it states for this problem; `stated` holds that of the description.
  Status accuracy(const Problem& problem, attest_accuracy& stated) const;

 private:
  Status call(const Problem& problem, const std::function<int(attest_message&)>& function) const;
  void set_threads() const;

  attest_kernel_table table_;
  bool parallel_calls_;
  mutable std::mutex one_call_;
  mutable std::atomic<int> threads_{0};
};

}  // namespace attest::foreign
