# Coverage by gcov (GCC). Included by rooms.cmake with ATTEST_COVERAGE.

# -O1 without assertions: Highway's vectors are slow where nothing is inlined into them, and the
# branches of an assertion are never taken. Atomic, because gcov computes some counts as
# differences, which lost updates make wrong. Everything is instrumented, although only some of it
# is reported: GCC does not inline between what is instrumented and what is not, and the dispatch
# of Highway (ChosenTarget::GetIndex) is wrong when it is not inlined.
set(CMAKE_CXX_FLAGS_COVERAGE "-O1 -DNDEBUG" CACHE STRING "Flags of the build type Coverage" FORCE)
add_compile_options(--coverage -fprofile-abs-path -fprofile-update=atomic)
add_link_options(--coverage)

# Every test, then gcovr: cmake --build --preset coverage --target coverage_report.
add_custom_target(coverage_report USES_TERMINAL
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DBINARY_DIR=${PROJECT_BINARY_DIR}
          -P ${PROJECT_SOURCE_DIR}/cmake/coverage_report.cmake)
