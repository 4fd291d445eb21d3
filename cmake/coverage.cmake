# Coverage by gcov (GCC). Included by rooms.cmake with ATTEST_COVERAGE.

# -O1: Highway's vectors are only usable when they are inlined, and at -O0 the tests of the oracle
# take an hour. No assertions: their branches are never taken.
set(CMAKE_CXX_FLAGS_COVERAGE "-O1 -DNDEBUG" CACHE STRING "Flags of the build type Coverage")

# Counters only where they are read: tests, GoogleTest and RapidCheck would double the build.
# Atomic, because gcov computes some counts as differences, and a lost update makes them wrong.
string(REGEX REPLACE "([][+.*()^$?{}|\\\\])" "\\\\\\1" coverage_root "${PROJECT_SOURCE_DIR}")
add_compile_options(--coverage -fprofile-abs-path -fprofile-update=atomic
  "-fprofile-filter-files=${coverage_root}/(include|src|reference|properties|reports)/"
  "-fprofile-exclude-files=(_test[.]cpp|/test_[^/]*)$")
add_link_options(--coverage)

# Every test, then gcovr: cmake --build --preset coverage --target coverage_report.
add_custom_target(coverage_report USES_TERMINAL
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DBINARY_DIR=${PROJECT_BINARY_DIR}
          -P ${PROJECT_SOURCE_DIR}/cmake/coverage_report.cmake)
