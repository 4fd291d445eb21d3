// Whether this build has a sanitizer whose shadow memory is counted as data: it is many times
// larger than any limit.
#pragma once

namespace attest::foreign {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kHasShadowMemory = true;
#elif defined(__has_feature)
inline constexpr bool kHasShadowMemory = __has_feature(address_sanitizer) ||
                                         __has_feature(thread_sanitizer) ||
                                         __has_feature(memory_sanitizer);
#else
inline constexpr bool kHasShadowMemory = false;
#endif

}  // namespace attest::foreign
