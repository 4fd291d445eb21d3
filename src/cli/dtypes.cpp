#include "cli/dtypes.hpp"

#include <algorithm>

namespace attest::cli {

Result<std::vector<Dtype>> parse_dtypes(const std::vector<std::string>& names) {
  std::vector<Dtype> dtypes;
  for (const std::string& name : names) {
    const auto dtype = dtype_from_string(name);
    if (!dtype)
      return invalid_argument("unknown type '" + name + "' (attest list dtypes shows them)");
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

bool keep_dtypes(properties::CheckPlan& plan, std::span<const Dtype> dtypes) {
  if (dtypes.empty()) return true;
  const auto is_other = [&](Dtype dtype) {
    return std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end();
  };
  std::erase_if(plan.limits.dtypes, is_other);
  std::erase_if(plan.given, [&](const properties::GivenCase& given) {
    return is_other(given.value.problem.dtype);
  });
  return !plan.limits.dtypes.empty();
}

}  // namespace attest::cli
