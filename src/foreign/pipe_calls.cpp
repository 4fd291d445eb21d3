#include "foreign/pipe_calls.hpp"

#include <algorithm>

#include "attest/problem_text.hpp"
#include "attest/threads.hpp"
#include "foreign/description.hpp"
#include "foreign/fault_report.hpp"
#include "foreign/marshal.hpp"
#include "foreign/message_data.hpp"

namespace attest::foreign {
namespace {

/// Of tensors in one frame.
constexpr std::uint64_t kMostData = std::uint64_t{2} << 30;
/// Of the line of a request: what a program must be ready to read. A worker takes any.
constexpr std::size_t kMostLine = std::size_t{16} << 20;
/// Data of fewer bytes fit into a pipe at once: nothing is won by shared memory.
constexpr std::uint64_t kSharedFrom = std::uint64_t{1} << 16;
constexpr std::uint64_t kMostReplyLine = std::uint64_t{1} << 20;
/// After so many calls without an answer, none of them answered in between, no more are made: a
/// kernel that always hangs must not make a run endless.
constexpr int kMostTimeouts = 5;

/// The last line of a text that is not blank.
std::string_view last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const std::size_t begin = text.rfind('\n');
  return begin == std::string_view::npos ? text : text.substr(begin + 1);
}

/// What a worker wrote behind a mark before it died; empty: nothing.
std::string marked(std::string_view words, std::string_view mark) {
  const std::size_t at = words.rfind(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = words.substr(at + mark.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

}  // namespace

Result<std::unique_ptr<PipeCalls>> PipeCalls::open(Peer peer, CallLimits limits) {
  std::unique_ptr<PipeCalls> calls(new PipeCalls(std::move(peer), limits));
  Result<Process> process = calls->start();
  const auto refused = [](const Status& status) {
    return Status{StatusCode::io_error, status.message()};
  };
  if (!process.ok()) return refused(process.status());
  Reply reply;
  OutgoingRequest describe;
  describe.message = "describe";
  if (Status status = calls->call_and_copy(process.value(), describe, {}, reply); !status.ok())
    return refused(status);
  Result<Description> description = parse_description(reply.description);
  if (!description.ok()) return refused(description.status());
  calls->description_ = std::move(description).value();
  calls->give_back(std::move(process).value());
  return calls;
}

Result<PipeCalls::Process> PipeCalls::start() const {
  Result<std::unique_ptr<ChildProcess>> child = ChildProcess::start(peer_.words);
  if (!child.ok()) return child.status();
  Process process;
  process.child = std::move(child).value();
  OutgoingRequest hello;
  hello.message = "hello";
  // Without it all data go through the pipe.
  Result<SharedFile> shared = SharedFile::make();
  if (shared.ok()) hello.shared_memory = shared.value().path();
  Reply reply;
  Status status = call_and_copy(process, hello, {}, reply);
  if (status.ok() && reply.protocol != kProtocolVersion)
    status =
        Status{StatusCode::kernel_ended, "it speaks version " + std::to_string(reply.protocol) +
                                             " of the pipe protocol; this is version " +
                                             std::to_string(kProtocolVersion)};
  if (!status.ok()) return Status{status.code(), "when it was started: " + status.message()};
  if (shared.ok() && reply.takes_shared_memory) {
    shared.value().remove_name();
    process.shared = std::move(shared).value();
  }
  return process;
}

Result<PipeCalls::Process> PipeCalls::take() const {
  while (true) {
    Process process;
    {
      const std::lock_guard lock(idle_mutex_);
      if (idle_.empty()) break;
      process = std::move(idle_.back());
      idle_.pop_back();
    }
    if (process.child->idle()) return process;
  }
  return start();
}

void PipeCalls::give_back(Process process) const {
  const std::lock_guard lock(idle_mutex_);
  idle_.push_back(std::move(process));
}

Status PipeCalls::status_of_ending(const Ending& ending) const {
  if (peer_.is_worker) {
    // The first one that is found is the narrower mark.
    if (const std::string why = marked(ending.last_words, kContractMark); !why.empty())
      return {StatusCode::broken_contract, why};
    if (const std::string why = marked(ending.last_words, kFaultMark); !why.empty())
      return {StatusCode::kernel_ended, why + ", " + to_text(ending, limits_.time)};
  }
  std::string message = to_text(ending, limits_.time);
  if (const std::string_view line = last_line(ending.last_words); !line.empty())
    message += "; standard error ends with " + in_quotes(line);
  const bool timed_out = ending.kind == Ending::Kind::timed_out;
  return {timed_out ? StatusCode::timed_out : StatusCode::kernel_ended, message};
}

Status PipeCalls::exchange(Process& process, const OutgoingRequest& request,
                           const OutgoingFrame& frame, const FrameLimits& limits, Frame& answer,
                           Reply& reply) const {
  const auto lost = [&](const Ending& ending) {
    process.child.reset();
    return status_of_ending(ending);
  };
  Ending ending;
  if (!process.child->exchange(frame, limits, limits_.time, answer, ending)) return lost(ending);
  Result<Reply> parsed =
      parse_reply(answer.line, request.id, {answer.data.size(), request.shared_bytes});
  if (!parsed.ok()) return lost({Ending::Kind::garbled, 0, parsed.status().message(), {}});
  reply = std::move(parsed).value();
  return status_of(reply);
}

Status PipeCalls::call_and_copy(Process& process, const OutgoingRequest& request,
                                const std::vector<WireTensor>& tensors, Reply& reply) const {
  if (!peer_.is_worker) return call_near(process, request, tensors, reply);
  const NearTensors near(tensors, kMostData);
  Status status = call_near(process, request, near.tensors(), reply);
  if (status.ok()) near.scatter();
  return status;
}

Status PipeCalls::call_near(Process& process, const OutgoingRequest& asked,
                            const std::vector<WireTensor>& tensors, Reply& reply) const {
  OutgoingRequest request = asked;
  request.id = ++last_id_;
  const Result<Placement> sent = place(tensors, kMostData);
  if (!sent.ok()) return sent.status();
  std::vector<WireTensor> results;
  std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(results),
               [](const WireTensor& tensor) { return tensor.writable; });
  const Placement expected = place(results, kMostData).value();
  OutgoingFrame frame{{}, data_parts(tensors, sent.value())};
  if (process.shared.open() && sent.value().end >= kSharedFrom && put(process.shared, frame.data)) {
    request.shared_bytes = sent.value().end;
    frame.data.clear();
  }
  frame.line = request_line(request, tensors, sent.value());
  if (!peer_.is_worker && frame.line.size() >= kMostLine)
    return {StatusCode::unsupported, "the text of the problem is too long for a pipe"};
  // A program may place results as it likes, each at a multiple of 64.
  const FrameLimits limits{kMostReplyLine, expected.end + kDataAlignment * (results.size() + 1)};
  Frame answer;
  if (Status status = exchange(process, request, frame, limits, answer, reply); !status.ok())
    return status;
  const std::string why = take_results(results, reply, answer, process.shared);
  if (why.empty()) return {};
  process.child.reset();
  return {StatusCode::kernel_ended, "broke the pipe protocol: " + why};
}

Status PipeCalls::tell_threads(Process& process) const {
  const bool knows = (description_.says.features & ATTEST_HAS_THREADS) != 0;
  const int count = thread_count();
  if (!knows || process.threads == count) return {};
  OutgoingRequest request;
  request.message = "set_threads";
  request.threads = count;
  Reply reply;
  Status status = call_and_copy(process, request, {}, reply);
  if (status.ok()) process.threads = count;
  return status;
}

Status PipeCalls::call(OutgoingRequest request, const Problem* problem, const Tiling* tiling,
                       bool with_tiles, std::vector<WireTensor> tensors, Reply& reply) const {
  if (timeouts_in_a_row_ >= kMostTimeouts)
    return {StatusCode::timed_out, "not called any more: the last " +
                                       std::to_string(kMostTimeouts) +
                                       " calls gave no answer in time"};
  std::string line;
  std::unique_ptr<CProblem> c_problem;
  std::unique_ptr<CTiling> c_tiling;
  if (peer_.is_worker) {
    line = canonical_text({*problem, tiling == nullptr ? Tiling{} : *tiling, {}, {}});
    request.line = line;
    request.lengths = {problem->seq_q, problem->seq_kv};
  } else {
    c_problem = std::make_unique<CProblem>(*problem);
    request.problem = c_problem->get();
    for (const WireTensor& fact : facts_of(*request.problem)) tensors.push_back(fact);
    if (tiling != nullptr) {
      c_tiling = std::make_unique<CTiling>(*problem, *tiling, with_tiles);
      request.tiling = c_tiling->get();
    }
  }
  const Status status = call_process(request, tensors, reply);
  if (status.code() == StatusCode::timed_out)
    ++timeouts_in_a_row_;
  else if (request.message != "accuracy")  // asked before every other call
    timeouts_in_a_row_ = 0;
  return status;
}

Status PipeCalls::call_process(const OutgoingRequest& request,
                               const std::vector<WireTensor>& tensors, Reply& reply) const {
  Result<Process> process = take();
  if (!process.ok()) return process.status();
  Status status = tell_threads(process.value());
  if (status.ok()) status = call_and_copy(process.value(), request, tensors, reply);
  if (process.value().child != nullptr) give_back(std::move(process).value());
  return status;
}

Status PipeCalls::forward(const Problem& problem, const Tiling& tiling, const ForwardViews& views,
                          bool with_tiles) const {
  OutgoingRequest request;
  request.message = "forward";
  Reply reply;
  const CForward tensors(problem, views);
  return call(request, &problem, &tiling, with_tiles, tensors_of(*tensors.get()), reply);
}

Status PipeCalls::backward(const Problem& problem, const Tiling& tiling, const BackwardViews& views,
                           bool with_tiles) const {
  OutgoingRequest request;
  request.message = "backward";
  Reply reply;
  const CBackward tensors(problem, views);
  return call(request, &problem, &tiling, with_tiles, tensors_of(*tensors.get()), reply);
}

Status PipeCalls::partial(const Problem& problem, KeyRange keys, const ForwardViews& inputs,
                          const attest_part& part) const {
  OutgoingRequest request;
  request.message = "partial";
  request.keys = KeySpan{keys.begin, keys.end};
  Reply reply;
  const CForward c_inputs(problem, inputs);
  std::vector<WireTensor> tensors;
  for (const WireTensor& tensor : tensors_of(*c_inputs.get()))
    if (!tensor.writable) tensors.push_back(tensor);
  for (const WireTensor& tensor : tensors_of_part(part, "")) tensors.push_back(tensor);
  const Tiling tiling;
  return call(request, &problem, &tiling, false, std::move(tensors), reply);
}

Status PipeCalls::merge(const Problem& problem, const attest_part& left, const attest_part& right,
                        const attest_part& part) const {
  OutgoingRequest request;
  request.message = "merge";
  Reply reply;
  std::vector<WireTensor> tensors = tensors_of_part(left, "left_");
  for (const WireTensor& tensor : tensors_of_part(right, "right_")) tensors.push_back(tensor);
  for (const WireTensor& tensor : tensors_of_part(part, "")) tensors.push_back(tensor);
  return call(request, &problem, nullptr, false, std::move(tensors), reply);
}

Status PipeCalls::accuracy(const Problem& problem, attest_accuracy& stated) const {
  if (!description_.calls.accuracy) return {};
  OutgoingRequest request;
  request.message = "accuracy";
  Reply reply;
  if (Status status = call(request, &problem, nullptr, false, {}, reply); !status.ok())
    return status;
  const Result<attest_accuracy> read = parse_accuracy(reply.accuracy);
  if (!read.ok()) return read.status();
  stated = read.value();
  return check_accuracy(stated);
}

}  // namespace attest::foreign
