#include "foreign/plugin_calls.hpp"

#include <array>
#include <exception>

#include "attest/threads.hpp"
#include "foreign/marshal.hpp"

namespace attest::foreign {
namespace {

constexpr std::size_t kTextBytes = 4096;
constexpr std::size_t kShownText = 400;

Status failed(std::string message) {
  return {StatusCode::kernel_failed, std::move(message)};
}

std::string text_of(const std::array<char, kTextBytes>& text, const char* fallback) {
  std::string line = one_line(text.data(), text.size(), kShownText);
  return line.empty() ? fallback : line;
}

/// The plug-in says that a row sees no key, which only the policy reject allows.
Status masked_row(const Problem& problem, const attest_message& message) {
  if (problem.all_masked != AllMaskedPolicy::reject)
    return failed("the plug-in returned ATTEST_ALL_MASKED_ROW, which the problem does not allow");
  const RowIndex row{message.row[0], message.row[1], message.row[2]};
  const bool exists = row.batch >= 0 && row.batch < problem.batch && row.head >= 0 &&
                      row.head < problem.heads_q && row.query >= 0 &&
                      row.query < problem.query_length(row.batch);
  if (!exists)
    return failed("the plug-in returned ATTEST_ALL_MASKED_ROW and row (" +
                  std::to_string(row.batch) + ", " + std::to_string(row.head) + ", " +
                  std::to_string(row.query) + "), which does not exist");
  return all_masked_row(row);
}

}  // namespace

void PluginCalls::set_threads() const {
  const int count = thread_count();
  if (table_.set_threads != nullptr && threads_.exchange(count) != count) table_.set_threads(count);
}

Status PluginCalls::call(const Problem& problem,
                         const std::function<int(attest_message&)>& function) const {
  std::array<char, kTextBytes> text{};
  attest_message message{sizeof message, text.data(), text.size(), {-1, -1, -1}};
  std::unique_lock lock(one_call_, std::defer_lock);
  if (!parallel_calls_) lock.lock();
  int code = ATTEST_FAILED;
  try {
    set_threads();
    code = function(message);
  } catch (const std::exception& thrown) {
    const std::string what = thrown.what();
    return failed("the plug-in threw an exception: " +
                  one_line(what.c_str(), what.size() + 1, kShownText));
  } catch (...) {
    return failed("the plug-in threw an exception");
  }
  switch (code) {
    case ATTEST_OK:
      return {};
    case ATTEST_UNSUPPORTED:
      return {StatusCode::unsupported, text_of(text, "the plug-in does not do this problem")};
    case ATTEST_ALL_MASKED_ROW:
      return masked_row(problem, message);
    case ATTEST_FAILED:
      return failed(text_of(text, "the plug-in failed and does not say why"));
    default:
      return failed("the plug-in returned " + std::to_string(code) + ", which is no code");
  }
}

Status PluginCalls::forward(const Problem& problem, const Tiling& tiling, const ForwardViews& views,
                            bool with_tiles) const {
  const CProblem c_problem(problem);
  const CTiling c_tiling(problem, tiling, with_tiles);
  const CForward tensors(problem, views);
  return call(problem, [&](attest_message& message) {
    return table_.forward(c_problem.get(), c_tiling.get(), tensors.get(), &message);
  });
}

Status PluginCalls::backward(const Problem& problem, const Tiling& tiling,
                             const BackwardViews& views, bool with_tiles) const {
  const CProblem c_problem(problem);
  const CTiling c_tiling(problem, tiling, with_tiles);
  const CBackward tensors(problem, views);
  return call(problem, [&](attest_message& message) {
    return table_.backward(c_problem.get(), c_tiling.get(), tensors.get(), &message);
  });
}

Status PluginCalls::partial(const Problem& problem, KeyRange keys, const ForwardViews& inputs,
                            const attest_part& part) const {
  const CProblem c_problem(problem);
  const CTiling c_tiling(problem, Tiling{}, false);
  const CForward tensors(problem, inputs);
  return call(problem, [&](attest_message& message) {
    return table_.partial(c_problem.get(), c_tiling.get(), keys.begin, keys.end, tensors.get(),
                          &part, &message);
  });
}

Status PluginCalls::merge(const Problem& problem, const attest_part& left, const attest_part& right,
                          const attest_part& part) const {
  const CProblem c_problem(problem);
  return call(problem, [&](attest_message& message) {
    return table_.merge(c_problem.get(), &left, &right, &part, &message);
  });
}

Status PluginCalls::accuracy(const Problem& problem, attest_accuracy& stated) const {
  if (table_.accuracy == nullptr) return {};
  const CProblem c_problem(problem);
  Status status =
      call(problem, [&](attest_message&) { return table_.accuracy(c_problem.get(), &stated); });
  stated.size = sizeof stated;
  return status.ok() ? check_accuracy(stated) : status;
}

}  // namespace attest::foreign
