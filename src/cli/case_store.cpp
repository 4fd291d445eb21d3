#include "cli/case_store.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "cli/file_output.hpp"
#include "cli/saved_json.hpp"
#include "properties/hash.hpp"
#include "tensors/safetensors.hpp"

namespace attest::cli {
namespace {

namespace fs = std::filesystem;
using Json = SavedJson;

constexpr std::string_view kFormat = "attest-case";
constexpr int kFormatVersion = 1;

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
          {"stage", search.stage},
          {"among", search.among}};
}

Result<SearchRecord> read_search(const Json& json, const std::string& name) {
  return read_members(name, [&]() -> Result<SearchRecord> {
    const Index evaluations = count_member(json, "evaluations");
    return SearchRecord{number_member(json, "ratio"), count_member(json, "evaluation", evaluations),
                        evaluations, json.at("stage").get<std::string>(),
                        json.at("among").get<std::string>()};
  });
}

/// As save_case writes it; 0 for what is no such number.
std::uint64_t read_seed(std::string_view text) {
  std::uint64_t seed = 0;
  if (text.starts_with("0x")) std::from_chars(text.data() + 2, text.data() + text.size(), seed, 16);
  return seed;
}

/// Whether a tensor has numbers of its own: it exists, and is no view of another one.
bool is_stored(const properties::CaseTensor& of, const Problem& problem) {
  return !properties::is_view(problem, of.tensor) && of.extents(problem) != Extents{};
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

fs::path json_path(const fs::path& folder) {
  return folder / "case.json";
}
fs::path tensor_path(const fs::path& folder) {
  return folder / "case.safetensors";
}

Status broken(const fs::path& folder, const std::string& what) {
  return {StatusCode::io_error, json_path(folder).string() + ": " + what};
}

/// What case.json says: all but the tensors.
Result<StoredCase> describe(std::string_view content, const fs::path& folder) {
  const Json json = parse_saved_json(content, kFormat);
  if (json.is_null()) return broken(folder, "is not an attest case");
  if (!json.contains("version") || json["version"] != kFormatVersion)
    return broken(folder, "has another format version than " + std::to_string(kFormatVersion));
  ProblemText text;
  TextError error;
  const std::string problem = text_member(json, "problem");
  if (!parse_problem_text(problem, text, error))
    return broken(folder, "\n" + with_caret(problem, error));
  if (const Status status = properties::check_size(text.problem); !status.ok())
    return broken(folder, status.message());
  StoredCase stored{
      text_member(json, "kernel"), text.law, read_seed(text_member(json, "seed")), {}, {}};
  if (json.contains("search")) {
    Result<SearchRecord> search =
        read_search(json["search"], json_path(folder).string() + ": search");
    if (!search.ok()) return search.status();
    stored.search = std::move(search).value();
  }
  stored.value.problem = text.problem;
  stored.value.tiling = text.tiling;
  stored.value.values.seed = text.values.seed;
  properties::becomes_literal(stored.value);
  return stored;
}

Result<StoredCase> with_tensors(StoredCase stored, const Result<tensors::SafetensorsFile>& file,
                                const fs::path& folder) {
  if (!file.ok()) return file.status();
  if (Status status = read_tensors(file.value(), stored.value); !status.ok())
    return broken(folder, status.message());
  return stored;
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
  const fs::path path = folder / fmt::format("{:012x}", properties::fnv1a(identity) >> 16);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Status{StatusCode::io_error, "cannot create the folder " + path.string()};

  Json json{{"format", kFormat},
            {"version", kFormatVersion},
            {"kernel", stored.kernel},
            {"law", stored.law},
            {"problem", problem},
            {"outcome", to_string(stored.verdict.outcome)},
            {"reason", stored.verdict.reason},
            {"seed", fmt::format("0x{:X}", stored.seed)}};
  if (stored.search) json["search"] = search_json(*stored.search);
  if (stored.verdict.witness) json["witness"] = witness_json(*stored.verdict.witness);
  if (Status status = tensors::write_safetensors(tensor_path(path), file); !status.ok())
    return status;
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (Status status = write_file(json_path(path), text); !status.ok()) return status;
  return path;
}

std::error_code remove_case(const fs::path& folder) {
  std::error_code error;
  fs::remove(json_path(folder), error);
  if (!error) fs::remove_all(folder, error);
  return error;
}

bool is_case_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(json_path(folder), ignored);
}

Result<StoredCase> parse_case(const CaseFiles& files, const fs::path& folder) {
  Result<StoredCase> described = describe(files.json, folder);
  if (!described.ok()) return described;
  return with_tensors(std::move(described).value(),
                      tensors::parse_safetensors(files.tensors, tensor_path(folder).native()),
                      folder);
}

Result<std::vector<LoadedCase>> load_cases(const fs::path& folder) {
  std::vector<fs::path> found;
  if (is_case_folder(folder)) found.push_back(folder);
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (is_case_folder(at->path())) found.push_back(at->path());
  if (error) return Status{StatusCode::io_error, "cannot read the folder " + folder.string()};
  std::sort(found.begin(), found.end());
  std::vector<LoadedCase> cases;
  for (fs::path& path : found) {
    Result<StoredCase> stored = load_case(path);
    if (!stored.ok()) return stored.status();
    cases.push_back({std::move(path), std::move(stored).value()});
  }
  return cases;
}

Result<StoredCase> load_case(const fs::path& folder) {
  const Result<std::string> json = read_saved_text(json_path(folder), kMaxCaseFile);
  if (!json.ok()) return json.status();
  Result<StoredCase> described = describe(json.value(), folder);
  if (!described.ok()) return described;
  return with_tensors(std::move(described).value(), tensors::read_safetensors(tensor_path(folder)),
                      folder);
}

}  // namespace attest::cli
