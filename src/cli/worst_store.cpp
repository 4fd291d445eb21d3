#include "cli/worst_store.hpp"

#include <cctype>
#include <utility>

namespace attest::cli {
namespace {

namespace fs = std::filesystem;

/// "builtin:simd/AVX2" as the name of one folder.
std::string file_name(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') c = '-';
  return name;
}

}  // namespace

fs::path WorstStore::folder_of(const WorstKey& key) const {
  return folder_ / file_name(key.kernel) / file_name(key.law) / to_string(key.dtype);
}

Result<std::optional<LoadedCase>> WorstStore::load(const WorstKey& key) const {
  std::optional<LoadedCase> worst;
  std::error_code ignored;
  if (!fs::exists(folder_of(key), ignored)) return worst;
  auto found = load_cases(folder_of(key));
  if (!found.ok()) return found.status();
  for (LoadedCase& one : found.value()) {
    const auto& search = one.stored.search;
    if (!search)
      return Status{StatusCode::io_error, one.folder.string() + ": is no case of a climb"};
    if (!worst || search->ratio > worst->stored.search->ratio) worst = std::move(one);
  }
  return worst;
}

Result<fs::path> WorstStore::replace(const WorstKey& key, const StoredCase& by) const {
  const fs::path folder = folder_of(key);
  Result<fs::path> saved = save_case(folder, by);
  if (!saved.ok()) return saved;
  const auto failed = [](const fs::path& what, const std::error_code& error) {
    return Status{StatusCode::io_error, "cannot clear " + what.string() + ": " + error.message()};
  };
  std::vector<fs::path> others;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error))
    if (at->path() != saved.value()) others.push_back(at->path());
  if (error) return failed(folder, error);
  for (const fs::path& other : others)
    if (error = remove_case(other); error) return failed(other, error);
  return saved;
}

Result<std::vector<properties::GivenCase>> stored_cases(const fs::path& folder) {
  auto found = load_cases(folder);
  if (!found.ok()) return found.status();
  std::vector<properties::GivenCase> cases;
  for (auto& [path, stored] : found.value()) {
    if (properties::find_law(stored.law) == nullptr)
      return Status{StatusCode::io_error,
                    path.string() + "/case.json: unknown law '" + stored.law + "'"};
    cases.push_back({std::move(stored.value), std::move(stored.law)});
  }
  return cases;
}

}  // namespace attest::cli
