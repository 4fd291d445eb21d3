#include "properties/run_recorder.hpp"

namespace attest::properties {
namespace {

/// Runs with more rows than this are not copied.
constexpr Index kMostRows = Index{1} << 16;

RunRecorder*& recorder_of_this_thread() {
  thread_local RunRecorder* recorder = nullptr;
  return recorder;
}

}  // namespace

RunRecorder::RunRecorder(std::size_t most) : most_(most) {
  recorder_of_this_thread() = this;
}

RunRecorder::~RunRecorder() {
  recorder_of_this_thread() = nullptr;
}

void RunRecorder::note(const Case& of, const Outputs& outputs) {
  RunRecorder* const to = recorder_of_this_thread();
  if (to != nullptr && outputs.status.ok() && to->forward_.size() < to->most_ &&
      of.problem.rows() <= kMostRows)
    to->forward_.push_back({of, outputs});
}

void RunRecorder::note(const Case& of, const GradientOutputs& outputs) {
  RunRecorder* const to = recorder_of_this_thread();
  if (to != nullptr && outputs.status.ok() && to->backward_.size() < to->most_ &&
      of.problem.rows() <= kMostRows)
    to->backward_.push_back({of, outputs});
}

}  // namespace attest::properties
