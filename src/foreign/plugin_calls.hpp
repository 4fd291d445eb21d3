// The functions of a plug-in behind Status: one call at a time where it asks for that, no exception
// comes through, and text is one line.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "foreign/calls.hpp"
#include "foreign/description.hpp"

namespace attest::foreign {

/// A shared object that was looked at.
struct LoadedPlugin {
  std::shared_ptr<void> library;  ///< its functions are there as long as this is
  attest_kernel_table table{};
  Described described;
};

class PluginCalls final : public ForeignCalls {
 public:
  explicit PluginCalls(const LoadedPlugin& plugin)
      : library_(plugin.library),
        table_(plugin.table),
        parallel_calls_(plugin.described.parallel_calls) {}

  bool has_merge() const noexcept override { return table_.merge != nullptr; }
  bool has_partial() const noexcept override { return table_.partial != nullptr; }

  Status forward(const Problem& problem, const Tiling& tiling, const ForwardViews& views,
                 bool with_tiles) const override;
  Status backward(const Problem& problem, const Tiling& tiling, const BackwardViews& views,
                  bool with_tiles) const override;
  Status partial(const Problem& problem, KeyRange keys, const ForwardViews& inputs,
                 const attest_part& part) const override;
  Status merge(const Problem& problem, const attest_part& left, const attest_part& right,
               const attest_part& part) const override;
  Status accuracy(const Problem& problem, attest_accuracy& stated) const override;

 private:
  Status call(const Problem& problem, const std::function<int(attest_message&)>& function) const;
  void set_threads() const;

  std::shared_ptr<void> library_;
  attest_kernel_table table_;
  bool parallel_calls_;
  mutable std::mutex one_call_;
  mutable std::atomic<int> threads_{0};
};

}  // namespace attest::foreign
