// The instruction sets that the SIMD kernels are compiled for. Include this before any header of
// Highway, in every file that is compiled once a target: all of them then have the same tables.
#pragma once

// On x86: AVX3_DL, AVX2, SSE4 and a fallback in portable C++. That is EMU128, with vectors of
// 16 bytes, or SCALAR, with vectors of one lane, where the compiler is GCC before 12.3 (its bug
// 106322 breaks EMU128).
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif
#ifndef HWY_COMPILE_ALL_ATTAINABLE
#define HWY_COMPILE_ALL_ATTAINABLE
#endif
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
