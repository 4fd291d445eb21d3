// One stored element as a number, for every Dtype.
#pragma once

#include "attest/dtype.hpp"

namespace attest {

/// The stored number; exact for every type. Unaligned addresses are fine.
double load_element(Dtype dtype, const void* at);

/// Stores the number of `dtype` nearest to `value`, ties to even, rounded once. Beyond the largest
/// finite number: an infinity; e4m3 has none and takes its NaN. The fp8 types do not saturate.
void store_element(Dtype dtype, void* at, double value);

/// `value` rounded as store_element does.
double rounded_to(Dtype dtype, double value);

}  // namespace attest
