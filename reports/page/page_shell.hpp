// The HTML page without the data of a run: what stands before the data and after it.
#pragma once

#include <string_view>

namespace attest::reports {

std::string_view page_before_data();
std::string_view page_after_data();

}  // namespace attest::reports
