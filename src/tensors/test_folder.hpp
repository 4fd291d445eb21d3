// Test fixture: a folder of its own, removed at the end.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace attest::tensors {

class TemporaryFolder : public testing::Test {
 protected:
  TemporaryFolder() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TemporaryFolder() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  const std::filesystem::path& folder() const { return folder_; }

  std::filesystem::path write(std::string_view name, std::string_view content) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      found.push_back(entry.path().filename().string());
    return found;
  }

 private:
  // The process number, since ctest runs the tests of one program side by side.
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  ("attest-tensors-test-" + std::to_string(::getpid()));
};

}  // namespace attest::tensors
