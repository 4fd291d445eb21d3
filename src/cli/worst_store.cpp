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

Result<std::optional<StoredCase>> WorstStore::load(const WorstKey& key) const {
  std::optional<StoredCase> worst;
  std::error_code ignored;
  if (!fs::exists(folder_of(key), ignored)) return worst;
  const auto found = find_case_folders(folder_of(key));
  if (!found.ok()) return found.status();
  for (const fs::path& path : found.value()) {
    Result<StoredCase> stored = load_case(path);
    if (!stored.ok()) return stored.status();
    const auto& search = stored.value().search;
    if (!search) return Status{StatusCode::io_error, path.string() + ": is no case of a climb"};
    if (!worst || search->ratio > worst->search->ratio) worst = std::move(stored).value();
  }
  return worst;
}

Result<fs::path> WorstStore::replace(const WorstKey& key, const StoredCase& by) const {
  const fs::path folder = folder_of(key);
  Result<fs::path> saved = save_case(folder, by);
  if (!saved.ok()) return saved;
  std::vector<fs::path> others;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path() != saved.value()) others.push_back(entry.path());
  for (const fs::path& other : others) fs::remove_all(other, error);
  if (error) return Status{StatusCode::io_error, "cannot clear the folder " + folder.string()};
  return saved;
}

Result<std::vector<properties::GivenCase>> stored_cases(const fs::path& folder) {
  const auto found = find_case_folders(folder);
  if (!found.ok()) return found.status();
  std::vector<properties::GivenCase> cases;
  for (const fs::path& path : found.value()) {
    Result<StoredCase> stored = load_case(path);
    if (!stored.ok()) return stored.status();
    StoredCase value = std::move(stored).value();
    if (properties::find_law(value.law) == nullptr)
      return Status{StatusCode::io_error,
                    path.string() + "/case.json: unknown law '" + value.law + "'"};
    cases.push_back({std::move(value.value), std::move(value.law)});
  }
  return cases;
}

}  // namespace attest::cli
