#include "cli/data_folder.hpp"

#include "cli/linked_program.hpp"

namespace attest::cli {

namespace fs = std::filesystem;

fs::path data_folder() {
  std::error_code ignored;
  const fs::path bin = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& folder :
       {linked_program().data, bin / ATTEST_INSTALLED_DATA, fs::path(ATTEST_DATA_DIR)})
    if (!folder.empty() && fs::is_directory(folder, ignored)) return folder;
  return {};
}

}  // namespace attest::cli
