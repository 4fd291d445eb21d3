// Runs a fuzz target over files and folders without libFuzzer, so that every compiler builds every
// target and the corpus is a test.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

/// The file itself, or the files directly inside a folder, in the order of their names.
std::vector<fs::path> inputs_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

void run(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  // A copy of the exact size: a sanitizer then sees the first byte read beyond it.
  const std::vector<std::uint8_t> bytes(content.begin(), content.end());
  // Written before the input runs: if it crashes, the last line names it.
  std::cout << path.string() << "\n" << std::flush;
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) try {
  int count = 0;
  for (int i = 1; i < argc; ++i)
    for (const fs::path& path : inputs_of(argv[i])) {
      run(path);
      ++count;
    }
  std::cout << count << " inputs\n";
  return count > 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
