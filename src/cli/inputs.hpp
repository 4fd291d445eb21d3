// What a user names on the command line: kernels, laws, problems, tensor folders, seeds.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attest/kernel.hpp"
#include "properties/check.hpp"
#include "tensors/library.hpp"

namespace attest::cli {

/// A kernel that this program was linked with, by its name, or the first one as "linked"; null:
/// none.
const Kernel* find_linked(std::string_view name);

/// "builtin:NAME", "mutant:NAME", "correct:NAME", or a shared object as foreign/plugin.hpp has it;
/// the error lists near or all names. A kernel lives until the program ends.
Result<const Kernel*> find_kernel(const std::string& name);

/// Whether a text matches one of these globs, with * and ?.
bool matches_any(const std::vector<std::string>& globs, std::string_view text);

/// Laws whose name matches one of `only` (all if empty) and none of `skip`; globs with * and ?.
Result<std::vector<const properties::Law*>> select_laws(const std::vector<std::string>& only,
                                                        const std::vector<std::string>& skip);

/// The given folders, or ATTEST_TENSORS, or the project's data/real when it is there; null when
/// none was named and none is there.
Result<std::unique_ptr<tensors::TensorLibrary>> open_tensors(
    const std::vector<std::string>& folders);

/// One problem line with its law, as a case. The error has the line and a caret under the place.
Result<properties::GivenCase> parse_given(const std::string& line,
                                          const tensors::TensorLibrary* library);

/// All lines of a file without comments (#) and blanks; errors begin with FILE:LINE.
Result<std::vector<properties::GivenCase>> read_problem_file(const std::string& path,
                                                             const tensors::TensorLibrary* library);

/// The stored hard cases. They are ours: a line that does not parse is an error of the build.
Result<std::vector<properties::GivenCase>> hard_cases(const tensors::TensorLibrary* library);

/// A number, decimal or 0x..., or "random".
Result<std::uint64_t> parse_seed(const std::string& text);

/// The given number of jobs, or one a core.
int resolve_jobs(int jobs);

}  // namespace attest::cli
