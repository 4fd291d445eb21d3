# What the tests and the fuzz corpora reach, by gcovr; run by the target coverage_report.
#   cmake -DSOURCE_DIR=. -DBINARY_DIR=build/coverage -P cmake/coverage_report.cmake
# Reports: BINARY_DIR/html/index.html, coverage.txt, coverage.json.
cmake_minimum_required(VERSION 3.25)

# Lines of the judged folders together, in percent: less fails. What is not reached, and why:
# docs/coverage.md.
set(least_lines 95)
set(judged include/attest src/kernels reference)
set(shown src/vocabulary src/tensors properties reports src/cli)

find_program(gcovr gcovr)
if(NOT gcovr)
  message(FATAL_ERROR "coverage needs gcovr (Debian package gcovr)")
endif()

# Counters of an earlier run would count code that is no more reached.
file(GLOB_RECURSE counters ${BINARY_DIR}/*.gcda)
if(counters)
  file(REMOVE ${counters})
endif()
# Counters take their time. Some tests forbid a program to write files, of which gcov would complain
# in its standard error.
set(ENV{ATTEST_TEST_PATIENCE} 600)
set(ENV{GCOV_ERROR_FILE} /dev/null)
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${BINARY_DIR} -j2 --output-on-failure
  RESULT_VARIABLE tests_failed)

# One pass over the counters; every report below reads its result.
set(all ${BINARY_DIR}/coverage.json)
execute_process(COMMAND ${gcovr} -j2 --root ${SOURCE_DIR} --object-directory ${BINARY_DIR}
    --filter ${SOURCE_DIR}/include/ --filter ${SOURCE_DIR}/src/ --filter ${SOURCE_DIR}/reference/
    --filter ${SOURCE_DIR}/properties/ --filter ${SOURCE_DIR}/reports/
    --exclude ".*_test[.]cpp" --exclude ".*/test_[^/]*" --exclude ".*/build/.*"
    --exclude-throw-branches --exclude-unreachable-branches
    --json ${all} ${BINARY_DIR}
  COMMAND_ERROR_IS_FATAL ANY)

# report(NAME FOLDERS [ARGUMENTS...]): sets NAME_lines, prints a line, writes NAME.txt.
function(report name folders)
  set(filters "")
  foreach(folder IN LISTS folders)
    list(APPEND filters --filter ${SOURCE_DIR}/${folder}/)
  endforeach()
  execute_process(COMMAND ${gcovr} --root ${SOURCE_DIR} --add-tracefile ${all} ${filters}
      --txt ${BINARY_DIR}/${name}.txt --print-summary ${ARGN}
    OUTPUT_VARIABLE summary COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "lines: ([0-9.]+)% \\(([0-9]+) out of ([0-9]+)\\)" lines "${summary}")
  set(percent ${CMAKE_MATCH_1})
  string(REGEX MATCH "branches: [^\n]*" branches "${summary}")
  string(REPLACE ";" " + " folders "${folders}")
  message("${folders}: ${lines}, ${branches}")
  set(${name}_lines ${percent} PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${BINARY_DIR}/html)
foreach(folder IN LISTS judged shown)
  string(REPLACE "/" "_" name ${folder})
  report(coverage_${name} ${folder})
endforeach()
report(coverage "${judged}" --html-details ${BINARY_DIR}/html/index.html
  --html-title "attest: include/attest, src/kernels, reference")
message("pages: ${BINARY_DIR}/html/index.html")

if(tests_failed)
  message(FATAL_ERROR "tests failed, so these numbers are not those of the tests")
elseif(NOT coverage_lines GREATER_EQUAL least_lines)
  message(FATAL_ERROR "lines of ${judged}: ${coverage_lines} %, less than ${least_lines} %")
endif()
