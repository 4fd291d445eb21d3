#include "foreign/worker.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <optional>

#include "attest/problem_text.hpp"
#include "attest/threads.hpp"
#include "foreign/marshal.hpp"
#include "foreign/plugin.hpp"
#include "foreign/shadow_memory.hpp"
#include "foreign/worker_call.hpp"

namespace attest::foreign {
namespace {

/// The other end is attest itself: these only bound what a mistake could ask for.
constexpr FrameLimits kRequestLimits{std::uint64_t{1} << 31, std::uint64_t{1} << 36};
/// Of a worker whose attest was killed while it was being waited for.
constexpr unsigned kMoreSeconds = 30;

bool read_frame(int from, FrameReader& reader) {
  while (!reader.complete()) {
    const auto room = reader.room();
    const ssize_t got = ::read(from, room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || !reader.take(static_cast<std::size_t>(got)).ok()) return false;
  }
  return true;
}

bool write_all(int to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(to, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return true;
}

Status unknown(std::string what) {
  return {StatusCode::unsupported, std::move(what)};
}

class Worker {
 public:
  Worker(std::string plugin, const CallLimits& limits, const WorkerStreams& streams)
      : name_(std::move(plugin)), limits_(limits), streams_(streams) {}

  int serve() {
    while (true) {
      FrameReader reader(kRequestLimits);
      if (!read_frame(streams_.input(), reader)) return 0;
      const Frame frame = std::move(reader).frame();
      Result<ReceivedRequest> request = parse_request(frame.line, frame.data.size());
      std::vector<std::byte> data;
      Reply reply = request.ok() ? answer(request.value(), frame, data)
                                 : reply_of(unknown(request.status().message()));
      if (request.ok()) reply.id = request.value().id;
      if (!send(reply, data)) return 0;
      if (request.ok() && request.value().message == "bye") return 0;
    }
  }

 private:
  bool send(const Reply& reply, std::span<const std::byte> data) const {
    const std::string line = reply_line(reply) + "\n";
    const auto header = frame_header(static_cast<std::uint32_t>(line.size()), data.size());
    return write_all(streams_.output(), header) &&
           write_all(streams_.output(), std::as_bytes(std::span(line))) &&
           write_all(streams_.output(), data);
  }

  Reply answer(const ReceivedRequest& request, const Frame& frame, std::vector<std::byte>& data) {
    if (request.message == "bye") return {};
    if (Status status = load(); !status.ok()) return reply_of(status);
    if (request.message == "hello") return hello(request);
    if (request.message == "describe") return describe();
    if (request.message == "set_threads") {
      set_thread_count(static_cast<int>(std::clamp<std::int64_t>(request.threads, 1, 4096)));
      return {};
    }
    return compute(request, frame, data);
  }

  Status load() {
    if (plugin_) return {};
    Result<LoadedPlugin> loaded = load_plugin(name_);
    static_cast<void>(streams_.printed());  // while it was loaded: no case is to blame
    if (!loaded.ok()) return {StatusCode::kernel_failed, loaded.status().message()};
    plugin_ = std::move(loaded).value();
    calls_ = std::make_unique<PluginCalls>(*plugin_);
    return {};
  }

  Reply hello(const ReceivedRequest& request) {
    Reply reply;
    reply.protocol = kProtocolVersion;
    if (request.shared_memory.empty()) return reply;
    Result<SharedFile> offered = SharedFile::open_other(request.shared_memory);
    reply.takes_shared_memory = offered.ok();
    if (offered.ok()) shared_ = std::move(offered).value();
    return reply;
  }

  Reply describe() const {
    Reply reply;
    const attest_kernel_table& table = plugin_->table;
    reply.description = description_text(
        *table.describe(),
        {table.partial != nullptr, table.merge != nullptr, table.accuracy != nullptr});
    return reply;
  }

  Reply compute(const ReceivedRequest& request, const Frame& frame, std::vector<std::byte>& data) {
    if (request.problem_text != problem_text_ || request.lengths != lengths_) {
      TextError error;
      problem_text_.clear();
      if (!parse_problem_text(request.problem_text, request.lengths, problem_, error))
        return reply_of(Status{StatusCode::kernel_failed,
                               "a worker cannot read the problem: " + error.message});
      problem_text_ = request.problem_text;
      lengths_ = request.lengths;
    }
    const RequestData sent(request, frame, shared_);
    const Result<WorkerCall> call = WorkerCall::make(request, sent);
    if (!call.ok()) return reply_of(Status{StatusCode::kernel_failed, call.status().message()});
    const double seconds = std::min(limits_.time.count(), 1e6);
    ::alarm(static_cast<unsigned>(std::ceil(seconds)) + kMoreSeconds);
    attest_accuracy stated = plugin_->described.accuracy;
    const Status status =
        call.value().run(streams_, [&] { return this->call(request, call.value(), stated); });
    ::alarm(0);
    Reply reply = reply_of(status);
    if (!status.ok()) return reply;
    if (request.message == "accuracy") reply.accuracy = accuracy_text(stated);
    if (sent.shared() == nullptr)
      data = call.value().results(reply.tensors);
    else if (call.value().share_results(*sent.shared(), reply.tensors))
      reply.shared_bytes = request.shared_bytes;
    else
      return reply_of(Status{StatusCode::kernel_failed, "no room for results in shared memory"});
    return reply;
  }

  Status call(const ReceivedRequest& request, const WorkerCall& on, attest_accuracy& stated) const {
    const Problem& problem = problem_.problem;
    if (request.message == "forward") {
      ForwardViews views = inputs(on);
      views.out = on.view("out");
      views.lse = on.view("lse");
      return calls_->forward(problem, problem_.tiling, views, with_tiles());
    }
    if (request.message == "backward")
      return calls_->backward(problem, problem_.tiling, backward_views(on), with_tiles());
    if (request.message == "accuracy") return calls_->accuracy(problem, stated);
    if (request.message == "partial") {
      const CTensor out(on.view("out"));
      const CTensor lse(on.view("lse"));
      return calls_->partial(problem, {request.keys.begin, request.keys.end}, inputs(on),
                             {sizeof(attest_part), out.get(), lse.get()});
    }
    if (request.message == "merge") return merge(on);
    return unknown("a worker knows no message " + in_quotes(request.message));
  }

  Status merge(const WorkerCall& on) const {
    const CTensor left_out(on.view("left_out"));
    const CTensor left_lse(on.view("left_lse"));
    const CTensor right_out(on.view("right_out"));
    const CTensor right_lse(on.view("right_lse"));
    const CTensor out(on.view("out"));
    const CTensor lse(on.view("lse"));
    return calls_->merge(problem_.problem, {sizeof(attest_part), left_out.get(), left_lse.get()},
                         {sizeof(attest_part), right_out.get(), right_lse.get()},
                         {sizeof(attest_part), out.get(), lse.get()});
  }

  bool with_tiles() const { return plugin_->described.accuracy.scope == ATTEST_SCOPE_TILE; }

  /// The bias without the axes that it does not have, as views have it.
  ConstTensorRef bias(const WorkerCall& on) const {
    ConstTensorRef view = read_only(on.view("bias"));
    if (problem_.problem.bias) view.extents = problem_.problem.bias_extents();
    return view;
  }
  ConstTensorRef v(const WorkerCall& on) const {
    return read_only(on.view_in("v", problem_.problem.v_is_k_view ? "k" : "v"));
  }

  ForwardViews inputs(const WorkerCall& on) const {
    ForwardViews views;
    views.q = read_only(on.view("q"));
    views.k = read_only(on.view("k"));
    views.v = v(on);
    views.bias = bias(on);
    views.sink = read_only(on.view("sink"));
    views.qv = read_only(on.view("qv"));
    return views;
  }

  BackwardViews backward_views(const WorkerCall& on) const {
    BackwardViews views;
    views.q = read_only(on.view("q"));
    views.k = read_only(on.view("k"));
    views.v = v(on);
    views.out = read_only(on.view("out"));
    views.lse = read_only(on.view("lse"));
    views.dout = read_only(on.view("dout"));
    views.dlse = read_only(on.view("dlse"));
    views.bias = bias(on);
    views.sink = read_only(on.view("sink"));
    views.dq = on.view("dq");
    views.dk = on.view("dk");
    views.dv = on.view("dv");
    views.dbias = on.view("dbias");
    views.dsink = on.view("dsink");
    return views;
  }

  std::string name_;
  CallLimits limits_;
  const WorkerStreams& streams_;
  std::optional<LoadedPlugin> plugin_;
  std::unique_ptr<PluginCalls> calls_;
  SharedFile shared_;
  std::string problem_text_;  ///< of problem_
  TensorLengths lengths_;     ///< the same
  ProblemText problem_;
};

/// Data beyond the limit is refused from now on.
std::size_t limit_memory(Index mebibytes) {
  constexpr Index kMost = std::numeric_limits<Index>::max() >> 20;
  if (kHasShadowMemory || mebibytes <= 0 || mebibytes > kMost) return 0;
  const auto bytes = static_cast<rlim_t>(mebibytes) << 20;
  const rlimit limit{bytes, bytes};
  return ::setrlimit(RLIMIT_DATA, &limit) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace

int run_worker(const std::string& plugin, const CallLimits& limits) {
  const Result<WorkerStreams> streams = WorkerStreams::take_over();
  if (!streams.ok()) return 1;
  report_faults(limit_memory(limits.memory_mib));
  return Worker(plugin, limits, streams.value()).serve();
}

}  // namespace attest::foreign
