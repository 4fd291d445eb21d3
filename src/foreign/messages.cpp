#include "foreign/messages.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "foreign/description.hpp"
#include "foreign/message_json.hpp"
#include "foreign/problem_json.hpp"

namespace attest::foreign {
namespace {

Json tensor_json(const WireTensor& tensor, std::uint64_t offset, std::uint64_t bytes) {
  Json json = Json::object();
  json["name"] = tensor.name;
  json["dtype"] = tensor.dtype;
  json["extents"] = tensor.extents;
  json["strides"] = tensor.strides;
  json["offset"] = offset;
  json["bytes"] = bytes;
  if (tensor.writable) json["writable"] = true;
  if (tensor.far_strides) json["far_strides"] = *tensor.far_strides;
  return json;
}

std::optional<std::array<Index, 4>> four(const std::vector<std::int64_t>& numbers) {
  std::array<Index, 4> found{};
  if (numbers.size() != found.size()) return std::nullopt;
  std::copy(numbers.begin(), numbers.end(), found.begin());
  return found;
}

/// Name, place and, where it is there, the form of a tensor.
Result<ReceivedTensor> read_tensor(const Json& json, std::uint64_t data_bytes) {
  if (!json.is_object()) return invalid_argument("a tensor is no JSON object");
  ReceivedTensor tensor;
  Members members(json, "tensor");
  tensor.name = members.text("name");
  const std::int64_t offset = members.integer("offset");
  const std::int64_t bytes = members.integer("bytes");
  tensor.dtype = members.text("dtype");
  tensor.writable = members.flag("writable");
  for (auto [name, target] :
       {std::pair{"extents", &tensor.extents}, {"strides", &tensor.strides}}) {
    if (!members.has(name)) continue;
    const auto found = four(members.integers(name));
    if (found)
      *target = *found;
    else
      members.refuse(name, "does not have 4 numbers");
  }
  if (members.has("far_strides")) tensor.far_strides = four(members.integers("far_strides"));
  if (!members.status().ok()) return members.status();
  if (tensor.name.empty()) return invalid_argument("a tensor has no name");
  if (offset < 0 || bytes < 0 || static_cast<std::uint64_t>(bytes) > data_bytes ||
      static_cast<std::uint64_t>(offset) > data_bytes - static_cast<std::uint64_t>(bytes))
    return invalid_argument("tensor " + in_quotes(tensor.name) + " lies at " +
                            std::to_string(offset) + " with " + std::to_string(bytes) +
                            " bytes, in data of " + std::to_string(data_bytes));
  tensor.offset = static_cast<std::uint64_t>(offset);
  tensor.bytes = static_cast<std::uint64_t>(bytes);
  return tensor;
}

Status read_tensors(Members& members, std::uint64_t data_bytes,
                    std::vector<ReceivedTensor>& tensors) {
  for (const Json& one : members.list("tensors")) {
    Result<ReceivedTensor> tensor = read_tensor(one, data_bytes);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(std::move(tensor).value());
  }
  return members.status();
}

/// Bytes of the data that tensors lie in: those of the frame, or of shared memory where the message
/// names some.
std::uint64_t data_of(Members& members, DataBytes data, std::uint64_t& shared_bytes) {
  const std::int64_t named = members.integer("shared");
  if (named == 0) return data.in_frame;
  shared_bytes = static_cast<std::uint64_t>(named);
  if (named < 0 || shared_bytes > data.shared)
    members.refuse("shared", "names " + std::to_string(named) + " bytes of shared memory, where " +
                                 std::to_string(data.shared) + " may be used");
  else if (data.in_frame > 0)
    members.refuse("shared", "names shared memory beside data in the frame");
  return shared_bytes;
}

/// The bytes of a request's tensor are those that its form spans.
Status check_form(const ReceivedTensor& tensor) {
  const auto wrong = [&](const std::string& why) {
    return invalid_argument("tensor " + in_quotes(tensor.name) + " " + why);
  };
  WireTensor form;
  const auto dtype = number_of(kDtypeWords, tensor.dtype);
  if (dtype)
    form.element_bytes = bytes_of_dtype(static_cast<std::int32_t>(*dtype));
  else if (tensor.dtype == "u8" || tensor.dtype == "i64")
    form.element_bytes = tensor.dtype == "u8" ? 1 : 8;
  else
    return wrong("has an unknown dtype " + in_quotes(tensor.dtype));
  form.extents = tensor.extents;
  form.strides = tensor.strides;
  const auto bytes = form.span_bytes();
  if (!bytes) return wrong("has extents and strides that no tensor has");
  if (*bytes != tensor.bytes)
    return wrong("spans " + std::to_string(*bytes) + " bytes, but has " +
                 std::to_string(tensor.bytes));
  return {};
}

/// Of somebody else's text.
constexpr std::size_t kShownReason = 400;

struct StatusWord {
  std::string_view word;
  StatusCode code;
};
constexpr std::array kStatusWords{StatusWord{"ok", StatusCode::ok},
                                  StatusWord{"unsupported", StatusCode::unsupported},
                                  StatusWord{"all_masked_row", StatusCode::all_masked_row},
                                  StatusWord{"failed", StatusCode::kernel_failed},
                                  StatusWord{"broken_contract", StatusCode::broken_contract}};

}  // namespace

std::string request_line(const OutgoingRequest& request, std::span<const WireTensor> tensors,
                         const Placement& placement) {
  Json json = Json::object();
  json["message"] = request.message;
  json["id"] = request.id;
  if (request.message == "hello") {
    json["protocol"] = kProtocolVersion;
    json["attest"] = ATTEST_VERSION;
    if (!request.shared_memory.empty()) json["shared_memory"] = request.shared_memory;
  }
  if (request.threads) json["count"] = *request.threads;
  if (!request.line.empty())
    json["problem"] = {{"text", request.line},
                       {"seq_q", request.lengths.seq_q},
                       {"seq_kv", request.lengths.seq_kv}};
  if (request.problem != nullptr) json["problem"] = problem_json(*request.problem);
  if (request.tiling != nullptr) json["tiling"] = tiling_json(*request.tiling);
  if (request.keys) {
    json["key_begin"] = request.keys->begin;
    json["key_end"] = request.keys->end;
  }
  if (request.shared_bytes > 0) json["shared"] = request.shared_bytes;
  if (!tensors.empty()) json["tensors"] = Json::array();
  for (std::size_t i = 0; i < tensors.size(); ++i)
    json["tensors"].push_back(tensor_json(tensors[i], placement.offsets[i], placement.bytes[i]));
  return json.dump();
}

Result<ReceivedRequest> parse_request(std::string_view line, std::uint64_t data_bytes) {
  const Result<Json> json = parse_line(line);
  if (!json.ok()) return json.status();
  ReceivedRequest request;
  Members members(json.value(), "request");
  request.message = members.text("message");
  request.id = members.integer("id");
  request.protocol = members.integer("protocol");
  request.threads = members.integer("count");
  request.keys = {members.integer("key_begin"), members.integer("key_end")};
  if (const Json* const problem = members.object("problem")) {
    Members of_problem(*problem, "problem");
    request.problem_text = of_problem.text("text");
    request.lengths = {of_problem.integer("seq_q"), of_problem.integer("seq_kv")};
    if (!of_problem.status().ok()) return of_problem.status();
  }
  request.shared_memory = members.text("shared_memory");
  constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t data = data_of(members, {data_bytes, kAny}, request.shared_bytes);
  if (Status status = read_tensors(members, data, request.tensors); !status.ok()) return status;
  for (const ReceivedTensor& tensor : request.tensors)
    if (Status status = check_form(tensor); !status.ok()) return status;
  return request;
}

std::string reply_line(const Reply& reply) {
  Json json = Json::object();
  json["id"] = reply.id;
  json["status"] = reply.status;
  if (!reply.reason.empty()) json["reason"] = reply.reason;
  if (reply.row[0] >= 0) json["row"] = reply.row;
  if (reply.protocol != 0) json["protocol"] = reply.protocol;
  if (reply.takes_shared_memory) json["shared_memory"] = true;
  if (reply.shared_bytes > 0) json["shared"] = reply.shared_bytes;
  if (!reply.description.empty()) json["description"] = Json::parse(reply.description);
  if (!reply.accuracy.empty()) json["accuracy"] = Json::parse(reply.accuracy);
  if (!reply.tensors.empty()) json["tensors"] = Json::array();
  for (const ReceivedTensor& tensor : reply.tensors)
    json["tensors"].push_back(
        {{"name", tensor.name}, {"offset", tensor.offset}, {"bytes", tensor.bytes}});
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Reply> parse_reply(std::string_view line, std::int64_t id, DataBytes data) {
  const Result<Json> json = parse_line(line);
  if (!json.ok()) return json.status();
  Reply reply;
  Members members(json.value(), "reply");
  reply.id = members.integer("id");
  reply.status = members.text("status");
  reply.reason = members.text("reason");
  reply.protocol = members.integer("protocol");
  const std::vector<std::int64_t> row = members.integers("row");
  if (row.size() == 3) std::copy(row.begin(), row.end(), reply.row);
  if (const Json* const description = members.object("description"))
    reply.description = description->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (const Json* const accuracy = members.object("accuracy"))
    reply.accuracy = accuracy->dump(-1, ' ', false, Json::error_handler_t::replace);
  reply.takes_shared_memory = members.flag("shared_memory");
  const std::uint64_t bytes = data_of(members, data, reply.shared_bytes);
  if (Status status = read_tensors(members, bytes, reply.tensors); !status.ok()) return status;
  if (reply.id != id)
    return invalid_argument("it answers request " + std::to_string(reply.id) + ", but was asked " +
                            std::to_string(id));
  if (std::none_of(kStatusWords.begin(), kStatusWords.end(),
                   [&](const StatusWord& one) { return one.word == reply.status; }))
    return invalid_argument("a reply has the unknown status " + in_quotes(reply.status));
  return reply;
}

Status status_of(const Reply& reply) {
  for (const StatusWord& one : kStatusWords) {
    if (one.word != reply.status || one.code == StatusCode::ok) continue;
    const std::string reason =
        reply.reason.empty() ? "it gave no reason"
                             : one_line(reply.reason.c_str(), reply.reason.size(), kShownReason);
    if (one.code != StatusCode::all_masked_row) return {one.code, reason};
    return {one.code, reason, RowIndex{reply.row[0], reply.row[1], reply.row[2]}};
  }
  return {};
}

Reply reply_of(const Status& status) {
  Reply reply;
  if (status.ok()) return reply;
  reply.status = "failed";
  for (const StatusWord& one : kStatusWords)
    if (one.code == status.code()) reply.status = one.word;
  reply.reason = status.message();
  if (status.row()) {
    reply.row[0] = status.row()->batch;
    reply.row[1] = status.row()->head;
    reply.row[2] = status.row()->query;
  }
  return reply;
}

}  // namespace attest::foreign
