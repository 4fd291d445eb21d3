// Element types that a user names, and what they choose.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "properties/check.hpp"

namespace attest::cli {

Result<std::vector<Dtype>> parse_dtypes(const std::vector<std::string>& names);

/// Leaves only cases whose q has one of these types; all where none is named. False: then the
/// kernel takes none of them.
bool keep_dtypes(properties::CheckPlan& plan, std::span<const Dtype> dtypes);

}  // namespace attest::cli
