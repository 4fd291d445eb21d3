// The largest error found for every kernel, law and type: DIR/KERNEL/LAW/DTYPE/ID is a saved case.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/case_store.hpp"
#include "properties/check.hpp"

namespace attest::cli {

/// Whose worst case it is.
struct WorstKey {
  std::string kernel;
  std::string law;
  Dtype dtype = Dtype::f32;
};

class WorstStore {
 public:
  explicit WorstStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The stored case of the largest ratio, if there is one.
  Result<std::optional<LoadedCase>> load(const WorstKey& key) const;

  /// Puts this case in place of the stored one. A kill at any moment leaves one of them whole, or
  /// both.
  Result<std::filesystem::path> replace(const WorstKey& key, const StoredCase& by) const;

 private:
  std::filesystem::path folder_of(const WorstKey& key) const;

  std::filesystem::path folder_;
};

/// Every saved case below a folder, for its law, by path.
Result<std::vector<properties::GivenCase>> stored_cases(const std::filesystem::path& folder);

}  // namespace attest::cli
