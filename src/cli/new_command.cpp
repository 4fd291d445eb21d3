// attest new: the files of a kernel that builds and passes a smoke check.
#include <fmt/core.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/file_output.hpp"
#include "cli/skeleton_files.hpp"

namespace attest::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 48;

struct NewFile {
  std::string path;  ///< below the folder
  SkeletonText text;
};

struct Skeleton {
  std::vector<NewFile> files;
  std::string source;    ///< the file to edit
  std::string commands;  ///< what to do next
};

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

bool is_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || !is_letter(name.front())) return false;
  for (const char letter : name)
    if (!is_letter(letter) && !(letter >= '0' && letter <= '9') && letter != '_') return false;
  return true;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

Result<Skeleton> skeleton_of(const NewOptions& options) {
  const std::string& name = options.name;
  const std::string commands = fmt::format(
      "  cmake -S . -B build && cmake --build build\n"
      "  attest check build/lib{}.so --tier smoke\n",
      name);
  const NewFile header{"include/attest/kernel_abi.h", SkeletonText::header};
  const NewFile readme{"README.md", SkeletonText::readme};
  if (options.abi == "c")
    return Skeleton{{{name + ".c", SkeletonText::c_kernel},
                     {"CMakeLists.txt", SkeletonText::c_cmake},
                     readme,
                     header},
                    name + ".c",
                    commands};
  if (options.abi == "cpp")
    return Skeleton{{{name + ".cpp", SkeletonText::cpp_kernel},
                     {"kernel_wrapper.hpp", SkeletonText::cpp_wrapper},
                     {"CMakeLists.txt", SkeletonText::cpp_cmake},
                     readme,
                     header},
                    name + ".cpp",
                    commands};
  if (options.abi == "pipe")
    return Skeleton{{{name + ".py", SkeletonText::pipe_kernel},
                     {"attest_pipe.py", SkeletonText::pipe_module},
                     {"README.md", SkeletonText::pipe_readme}},
                    name + ".py",
                    fmt::format("  attest check 'pipe:python3 {}.py' --tier smoke\n", name)};
  return invalid_argument("unknown --abi '" + options.abi + "'; known: c, cpp, pipe");
}

Status write_skeleton(const Skeleton& skeleton, const fs::path& folder, const std::string& name) {
  // All or nothing: an existing file is found before the first one is written.
  for (const NewFile& file : skeleton.files)
    if (std::error_code ignored; fs::exists(folder / file.path, ignored))
      return invalid_argument((folder / file.path).string() + " exists; nothing was written");
  for (const NewFile& file : skeleton.files) {
    const fs::path path = folder / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
      return Status{StatusCode::io_error,
                    "cannot create " + path.parent_path().string() + ": " + error.message()};
    std::string text = replaced(std::string(skeleton_text(file.text)), "@NAME@", name);
    text = replaced(std::move(text), "@SOURCE@", skeleton.source);
    if (Status status = write_file(path, text); !status.ok()) return status;
  }
  return {};
}

}  // namespace

int new_command(const NewOptions& options) {
  if (!is_name(options.name))
    return usage(fmt::format("'{}' is no name: a letter, then letters, digits and _, at most {}",
                             options.name, kLongestName));
  const Result<Skeleton> skeleton = skeleton_of(options);
  if (!skeleton.ok()) return usage(skeleton.status().message());
  const fs::path folder = options.out.empty() ? options.name : options.out;
  if (const Status status = write_skeleton(skeleton.value(), folder, options.name); !status.ok())
    return usage(status.message());
  for (const NewFile& file : skeleton.value().files)
    fmt::print("{}\n", (folder / file.path).string());
  fmt::print("\n  cd {}\n{}", folder.string(), skeleton.value().commands);
  return all_good;
}

}  // namespace attest::cli
