// What the targets of laws share. One input is one kernel, one law and one small case.
//
// ATTEST_FUZZ_KERNEL   builtin:NAME or mutant:NAME, for every input; otherwise the kernel that is
//                      linked in (attest_add_fuzzer), otherwise the input chooses a built-in one
// ATTEST_FUZZ_FOUND    folder of findings (attest-fuzz-found)
// ATTEST_FUZZ_SHOW     if set, an input is saved, and its replay line printed, before it runs: for
//                      those that hang or take too much memory, which end without a word from here
//
// The fast oracle decides an input alone where it can, as in `check_once`; MPFR comes in where it
// cannot, for one row in 512, and for every violation, which has to repeat. So a finding is as sure
// as one of `attest check`, while a pass close to its bound is audited less often than there.
// A violation, a flaky result, an exception, two oracles that contradict each other, and what a
// sanitizer finds end the run after the case was saved and its replay line printed.
#pragma once

#include "fuzz/case_input.hpp"

namespace attest::fuzz {

/// Each target has its own.
const LawTarget& law_target();

/// The kernel that a user's target is about; null in attest's own.
const Kernel* linked_kernel();

}  // namespace attest::fuzz
