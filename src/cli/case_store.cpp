#include "cli/case_store.hpp"

#include <fmt/core.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/file_output.hpp"
#include "tensors/safetensors.hpp"

namespace attest::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

/// The problem with a placeholder for the values: they stand in the tensor file.
std::string problem_line(const StoredCase& stored) {
  ProblemText text = properties::to_text(stored.value, stored.law);
  text.values = {ValueRecipe::Kind::family, "stored", stored.value.values.seed, {}, {}, {}};
  return canonical_text(text);
}

Json witness_json(const Witness& witness) {
  return {{"tensor", witness.tensor},
          {"row", {witness.row.batch, witness.row.head, witness.row.query}},
          {"column", witness.column},
          {"got", fmt::format("{}", witness.got)},
          {"got_hex", fmt::format("{:a}", witness.got)},
          {"want", fmt::format("{}", witness.want.high)},
          {"want_hex", fmt::format("{:a} {:a}", witness.want.high, witness.want.low)},
          {"want_radius", fmt::format("{}", witness.want.radius)},
          {"error", fmt::format("{}", witness.error)},
          {"bound", fmt::format("{}", witness.bound)}};
}

tensors::Entry to_entry(const char* name, const Tensor& tensor) {
  // Dense in (batch, row, head, column) order, as Tensor lays it out; the shape says so.
  const Extents& extents = tensor.extents();
  return {name, tensor.dtype(), {extents[0], extents[2], extents[1], extents[3]}, tensor.bytes()};
}

Status read_tensor(const tensors::SafetensorsFile& file, const char* name, const Extents& extents,
                   Dtype dtype, Tensor& into) {
  const tensors::Entry* const entry = file.find(name);
  const std::vector<Index> shape{extents[0], extents[2], extents[1], extents[3]};
  if (entry == nullptr || entry->dtype != dtype || entry->shape != shape)
    return {StatusCode::io_error,
            std::string("tensor ") + name + " is missing or does not fit the problem in case.json"};
  into = Tensor(dtype, extents);
  into.bytes() = entry->bytes;
  return {};
}

}  // namespace

Result<fs::path> save_case(const fs::path& folder, const StoredCase& stored) {
  const properties::Case& value = stored.value;
  tensors::SafetensorsFile file;
  file.entries = {to_entry("q", value.q), to_entry("k", value.k), to_entry("v", value.v)};
  const std::string problem = problem_line(stored);
  std::string identity = stored.kernel + "\n" + problem;
  for (const tensors::Entry& entry : file.entries)
    identity.append(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
  const fs::path path = folder / fmt::format("{:012x}", fnv1a(identity) >> 16);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Status{StatusCode::io_error, "cannot create the folder " + path.string()};

  Json json{{"format", "attest-case"},
            {"version", kFormatVersion},
            {"kernel", stored.kernel},
            {"law", stored.law},
            {"problem", problem},
            {"outcome", to_string(stored.verdict.outcome)},
            {"reason", stored.verdict.reason},
            {"seed", fmt::format("0x{:X}", stored.seed)}};
  if (stored.verdict.witness) json["witness"] = witness_json(*stored.verdict.witness);
  if (Status status = tensors::write_safetensors(path / "case.safetensors", file); !status.ok())
    return status;
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (Status status = write_file(path / "case.json", text); !status.ok()) return status;
  return path;
}

bool is_case_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "case.json", ignored);
}

Result<StoredCase> load_case(const fs::path& folder) {
  const fs::path json_path = folder / "case.json";
  const auto broken = [&](const std::string& what) {
    return Status{StatusCode::io_error, json_path.string() + ": " + what};
  };
  std::ifstream stream(json_path, std::ios::binary);
  if (!stream) return broken("cannot be read");
  std::ostringstream content;
  content << stream.rdbuf();
  const Json json = Json::parse(content.str(), nullptr, false);
  const auto field = [&](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_string()
               ? json[name].get<std::string>()
               : std::string{};
  };
  if (field("format") != "attest-case") return broken("is not an attest case");
  if (!json.contains("version") || json["version"] != kFormatVersion)
    return broken("has another format version than " + std::to_string(kFormatVersion));

  ProblemText text;
  TextError error;
  const std::string problem = field("problem");
  if (!parse_problem_text(problem, text, error)) return broken("\n" + with_caret(problem, error));
  Result<tensors::SafetensorsFile> file = tensors::read_safetensors(folder / "case.safetensors");
  if (!file.ok()) return file.status();
  StoredCase stored{field("kernel"), text.law, 0, {}, {}};
  stored.value.problem = text.problem;
  stored.value.tiling = text.tiling;
  stored.value.values.seed = text.values.seed;
  properties::becomes_literal(stored.value);
  const Problem& shape = text.problem;
  for (auto& [name, tensor, extents] : {std::tuple{"q", &properties::Case::q, shape.q_extents()},
                                        std::tuple{"k", &properties::Case::k, shape.k_extents()},
                                        std::tuple{"v", &properties::Case::v, shape.v_extents()}})
    if (Status status = read_tensor(file.value(), name, extents, shape.dtype, stored.value.*tensor);
        !status.ok())
      return broken(status.message());
  return stored;
}

}  // namespace attest::cli
