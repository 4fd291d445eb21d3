// What problems can say, for `attest list`.
#pragma once

namespace attest::cli {

void list_masks();
void list_dtypes();
/// Every feature with the built-in kernels that declare it.
void list_features();

}  // namespace attest::cli
