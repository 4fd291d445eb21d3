#include "cli/dump_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tensors/message.hpp"

namespace attest::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProblemFile = "problem.txt";
/// A text file that is no problem text should not fill the memory.
constexpr std::uintmax_t kMaxProblemBytes = std::uintmax_t{1} << 20;

constexpr std::array<std::string_view, 15> kNames{"q",    "k",    "v",  "out",   "lse",
                                                  "bias", "sink", "qv", "dout",  "dlse",
                                                  "dq",   "dk",   "dv", "dbias", "dsink"};

std::string known_names() {
  std::string names;
  for (const std::string_view name : kNames) names += " " + std::string(name);
  return names;
}

/// The name of the problem text; `o` and `do` are what many programs say.
std::string own_name(std::string_view name) {
  if (name == "o") return "out";
  if (name == "do") return "dout";
  return std::string(name);
}

Status io_error(const fs::path& path, const std::string& what) {
  return {StatusCode::io_error, path.string() + ": " + what};
}

/// The first line that says something.
Result<std::string> read_problem(const fs::path& path) {
  std::error_code error;
  if (const auto size = fs::file_size(path, error); error || size > kMaxProblemBytes)
    return io_error(path, error ? error.message() : "is too large for a problem text");
  std::ifstream file(path);
  if (!file) return io_error(path, "cannot be read");
  for (std::string line; std::getline(file, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) continue;
    return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
  }
  return io_error(path, "has no problem line");
}

class DumpReader {
 public:
  explicit DumpReader(const std::string& given) {
    files_.problem = given;
    if (!given.empty()) files_.problem_source = "--problem";
    given_ = !given.empty();
  }

  Status add_path(const fs::path& path) {
    std::error_code ignored;
    if (files_.label.empty()) files_.label = path.string();
    return fs::is_directory(path, ignored) ? add_folder(path) : add_file(path);
  }
  DumpFiles take() { return std::move(files_); }

 private:
  Status add_folder(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".npy" || at->path().extension() == ".safetensors")
        found.push_back(at->path());
    if (error) return io_error(folder, error.message());
    if (found.empty()) return io_error(folder, "the folder has no *.npy or *.safetensors file");
    std::sort(found.begin(), found.end());
    for (const fs::path& path : found)
      if (Status status = add_file(path); !status.ok()) return status;
    return add_side_file(folder / kProblemFile);
  }

  Status add_file(const fs::path& path) {
    Status status;
    if (path.extension() == ".npy")
      status = add_npy(path);
    else if (path.extension() == ".safetensors")
      status = add_safetensors(path);
    else
      return io_error(path, "is neither a folder nor a *.npy or *.safetensors file");
    if (!status.ok()) return status;
    if (status = add_side_file(fs::path(path).replace_extension(".txt")); !status.ok())
      return status;
    return path.extension() == ".npy" ? add_side_file(path.parent_path() / kProblemFile) : status;
  }

  Status add_npy(const fs::path& path) {
    auto array = tensors::read_npy(path);
    if (!array.ok()) return array.status();
    return add_tensor({own_name(path.stem().string()), path.string(), std::move(array).value()});
  }

  Status add_safetensors(const fs::path& path) {
    auto file = tensors::read_safetensors(path);
    if (!file.ok()) return file.status();
    for (tensors::Entry& entry : file.value().entries) {
      std::string name = own_name(entry.name);
      if (Status status = add_tensor({std::move(name), path.string(), std::move(entry)});
          !status.ok())
        return status;
    }
    const auto& metadata = file.value().metadata;
    const auto text = metadata.find("problem");
    return text == metadata.end() ? Status{}
                                  : add_problem(text->second, "metadata of " + path.string());
  }

  Status add_tensor(DumpedTensor&& tensor) {
    if (std::find(kNames.begin(), kNames.end(), tensor.name) == kNames.end())
      return io_error(tensor.file, "tensor '" + tensors::printable(tensor.name) +
                                       "' has no known meaning; known are" + known_names());
    if (const DumpedTensor* const other = files_.find(tensor.name))
      return io_error(tensor.file,
                      "tensor '" + tensor.name + "' is there twice, also in " + other->file);
    files_.tensors.push_back(std::move(tensor));
    return {};
  }

  Status add_side_file(const fs::path& path) {
    std::error_code ignored;
    if (given_ || !fs::is_regular_file(path, ignored)) return {};
    auto text = read_problem(path);
    return text.ok() ? add_problem(text.value(), path.string()) : text.status();
  }

  Status add_problem(const std::string& text, const std::string& source) {
    if (given_ || text == files_.problem) return {};
    if (!files_.problem.empty())
      return invalid_argument("two problem texts differ: that of " + files_.problem_source +
                              " and that of " + source + " (--problem decides)");
    files_.problem = text;
    files_.problem_source = source;
    return {};
  }

  DumpFiles files_;
  bool given_ = false;
};

}  // namespace

const std::vector<Index>& DumpedTensor::shape() const {
  return std::visit([](const auto& of) -> const std::vector<Index>& { return of.shape; }, content);
}

std::optional<Dtype> DumpedTensor::dtype() const {
  return std::visit([](const auto& of) { return std::optional<Dtype>(of.dtype); }, content);
}

const DumpedTensor* DumpFiles::find(std::string_view name) const {
  const auto at = std::find_if(tensors.begin(), tensors.end(),
                               [&](const DumpedTensor& tensor) { return tensor.name == name; });
  return at == tensors.end() ? nullptr : &*at;
}

Result<DumpFiles> read_dump(const std::vector<std::string>& paths, const std::string& given) {
  DumpReader reader(given);
  for (const std::string& path : paths)
    if (Status status = reader.add_path(path); !status.ok()) return status;
  return reader.take();
}

}  // namespace attest::cli
