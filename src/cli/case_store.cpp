#include "cli/case_store.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
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

Json search_json(const SearchRecord& search) {
  return {{"ratio", search.ratio},
          {"evaluation", search.evaluation},
          {"evaluations", search.evaluations},
          {"stage", search.stage}};
}

/// Nothing when something is missing or of another kind.
std::optional<SearchRecord> read_search(const Json& json) {
  const auto is = [&](const char* name, auto test) {
    return json.is_object() && json.contains(name) && (json[name].*test)();
  };
  if (!is("ratio", &Json::is_number) || !is("evaluation", &Json::is_number_integer) ||
      !is("evaluations", &Json::is_number_integer) || !is("stage", &Json::is_string))
    return std::nullopt;
  return SearchRecord{json["ratio"], json["evaluation"], json["evaluations"], json["stage"]};
}

/// As save_case writes it; 0 for what is no such number.
std::uint64_t read_seed(std::string_view text) {
  std::uint64_t seed = 0;
  if (text.starts_with("0x")) std::from_chars(text.data() + 2, text.data() + text.size(), seed, 16);
  return seed;
}

/// Whether a tensor has numbers of its own: it exists, and is no view of another one.
bool is_stored(const properties::CaseTensor& of, const Problem& problem) {
  const bool is_view = problem.v_is_k_view && of.tensor == &properties::Case::v;
  return !is_view && of.extents(problem) != Extents{};
}

/// Dense in (batch, row, head, column) order, as Tensor lays it out.
std::vector<Index> shape_of(const Extents& extents) {
  return {extents[0], extents[2], extents[1], extents[3]};
}

std::vector<tensors::Entry> to_entries(const properties::Case& value) {
  std::vector<tensors::Entry> entries;
  for (const properties::CaseTensor& of : properties::case_tensors()) {
    if (!is_stored(of, value.problem)) continue;
    const Tensor& tensor = value.*of.tensor;
    entries.push_back(
        {std::string(of.name), tensor.dtype(), shape_of(tensor.extents()), tensor.bytes()});
  }
  return entries;
}

Status read_tensors(const tensors::SafetensorsFile& file, properties::Case& into) {
  const Problem& problem = into.problem;
  for (const properties::CaseTensor& of : properties::case_tensors()) {
    if (!is_stored(of, problem)) continue;
    const Extents extents = of.extents(problem);
    const tensors::Entry* const entry = file.find(of.name);
    if (entry == nullptr || entry->dtype != of.dtype(problem) || entry->shape != shape_of(extents))
      return {StatusCode::io_error, "tensor " + std::string(of.name) +
                                        " is missing or does not fit the problem in case.json"};
    Tensor& tensor = into.*of.tensor;
    tensor = Tensor(entry->dtype, extents);
    tensor.bytes() = entry->bytes;
  }
  properties::share_values(into);
  return {};
}

}  // namespace

Result<fs::path> save_case(const fs::path& folder, const StoredCase& stored) {
  const properties::Case& value = stored.value;
  tensors::SafetensorsFile file;
  file.entries = to_entries(value);
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
  if (stored.search) json["search"] = search_json(*stored.search);
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

Result<std::vector<fs::path>> find_case_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  if (is_case_folder(folder)) found.push_back(folder);
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (is_case_folder(at->path())) found.push_back(at->path());
  if (error) return Status{StatusCode::io_error, "cannot read the folder " + folder.string()};
  std::sort(found.begin(), found.end());
  return found;
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
  StoredCase stored{field("kernel"), text.law, read_seed(field("seed")), {}, {}};
  if (json.contains("search")) {
    stored.search = read_search(json["search"]);
    if (!stored.search) return broken("has no readable 'search'");
  }
  stored.value.problem = text.problem;
  stored.value.tiling = text.tiling;
  stored.value.values.seed = text.values.seed;
  properties::becomes_literal(stored.value);
  if (Status status = read_tensors(file.value(), stored.value); !status.ok())
    return broken(status.message());
  return stored;
}

}  // namespace attest::cli
