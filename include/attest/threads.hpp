// How many threads one call of a SIMD kernel may use.
//
// Work is cut by the problem and its tiling alone, and partial results are joined in a fixed order:
// results have the same bits for every number of threads.
#pragma once

namespace attest {

/// Of every call that begins from now on, in the whole process. Less than 1 counts as 1.
void set_thread_count(int count);

/// 1 until it is set: the harness runs many calls side by side.
int thread_count();

}  // namespace attest
