# Checks that every #include follows the arrows of docs/design.md.
#   cmake [-DSOURCE_DIR=.] [-DSELF_TEST=ON] -P cmake/check_arrows.cmake
cmake_minimum_required(VERSION 3.25)
if(NOT SOURCE_DIR)
  set(SOURCE_DIR "${CMAKE_CURRENT_LIST_DIR}/..")
endif()
get_filename_component(SOURCE_DIR "${SOURCE_DIR}" ABSOLUTE)

# A row: room | files (regex) | what they may include.
# The first row without `+` that matches a file is its room; every `+` row that matches adds to it.
# A permission is a header, or a prefix if it ends in `/`; `!` forbids; `std` is <name> without `/`
# and `.h`. A file may always include its neighbours by their bare names.
set(tests "gtest/ gmock/ rapidcheck/ rapidcheck.h")
set(facts "attest/accuracy.hpp attest/dtype.hpp attest/element.hpp attest/enclosure.hpp attest/error_bound.hpp \
attest/gradient_bound.hpp attest/mask.hpp attest/policy.hpp attest/problem.hpp attest/status.hpp attest/tensor.hpp attest/tensor_view.hpp")
set(system "unistd.h fcntl.h sys/")

set(ARROWS
  "include/attest | ^include/attest/      | std attest/ Eigen/Core !attest/gtest.hpp !attest/rapidcheck.hpp"
  "+plain-c       | ^include/attest/kernel_abi[.]h$ | stddef.h stdint.h"
  "src/vocabulary | ^src/vocabulary/      | std attest/ vocabulary/"
  "src/tensors    | ^src/tensors/         | std attest/ tensors/ nlohmann/ ${system}"
  "src/kernels    | ^src/kernels/         | std attest/ kernels/ Eigen/"
  "+threads       | ^src/kernels/parallel[.]cpp$ | tbb/"
  "+memory        | ^src/kernels/simd_test[.]cpp$ | malloc.h"
  "+simd          | ^src/kernels/(simd_[^/]*[.][ch]pp|[^/]*-inl[.]h)$ | hwy/"
  "src/foreign    | ^src/foreign/         | std attest/ foreign/ nlohmann/ ${system} dlfcn.h"
  "examples       | ^examples/            | std attest/kernel_abi.h"
  "+processes     | ^src/foreign/(child_process|fault_report|spawn)[.]cpp$ | poll.h signal.h spawn.h \
                                            ucontext.h"
  "+foreign       | ^examples/foreign/    | Eigen/Core oneapi/dnnl/"
  "+project       | ^examples/cmake_project/ | attest/ properties/ ${tests}"
  "src/cli        | ^src/cli/             | std attest/ tensors/ kernels/ reference/ properties/ \
                                            mutants/ probe/ selftest/ foreign/ \
                                            reports/ cli/ fmt/ nlohmann/ CLI/ Eigen/ hwy/ ${system} \
                                            !properties/generate_rapidcheck.hpp"
  "reference      | ^reference/           | std reference/ ${facts}"
  "+mpfr          | ^reference/([^/]*mpfr[^/]*[.]cpp|interval[^/]*[.]hpp)$ | mpfr.h gmp.h"
  "+tests         | ^reference/[^/]*mpfr_test[.]cpp$ | boost/"
  "+tests         | ^reference/[^/]*_test[.]cpp$ | attest/random.hpp"
  "+simd          | ^reference/((oracle_fast|exp_)[^/]*|[^/]*-inl[.]h)$ | hwy/"
  "mutants        | ^properties/mutants/  | std attest/ tensors/ kernels/ properties/ mutants/ \
                                            reference/oracle.hpp"
  "properties     | ^properties/          | std attest/ tensors/ properties/ reference/oracle.hpp \
                                            reference/gradients.hpp \
                                            !properties/mutants/ !properties/generate_rapidcheck.hpp"
  "+memory        | ^properties/sparse_tensor[.]cpp$ | ${system}"
  "+tests         | ^properties/test_[^/]*[.]hpp$ | kernels/kernels.hpp"
  "+generators    | ^properties/generate_rapidcheck[.] | rapidcheck/ rapidcheck.h \
                                            properties/generate_rapidcheck.hpp"
  "+tests         | ^properties/[^/]*_test[.]cpp$ | kernels/registry.hpp mutants/ \
                                            properties/mutants/ properties/generate_rapidcheck.hpp"
  "+tests         | (_test[.]cpp|/test_[^/]*[.]hpp)$ | ${tests}"
  "probe          | ^probe/               | std attest/ tensors/ properties/ probe/ reference/oracle.hpp \
                                            !properties/mutants/ !properties/generate_rapidcheck.hpp"
  "+tests         | ^probe/([^/]*_test[.]cpp|test_[^/]*[.]hpp)$ | kernels/kernels.hpp kernels/registry.hpp mutants/"
  "selftest       | ^selftest/            | std attest/ tensors/ properties/ mutants/ selftest/ \
                                            kernels/registry.hpp reference/oracle.hpp \
                                            !properties/generate_rapidcheck.hpp"
  "harness        | ^harness/             | std attest/ properties/ reports/report.hpp reports/render_case.hpp harness/ \
                                            kernels/registry.hpp cli/case_text.hpp \
                                            cli/check_run.hpp cli/dtypes.hpp cli/inputs.hpp cli/tiers.hpp \
                                            !properties/mutants/ !properties/generate_rapidcheck.hpp"
  "+gtest         | ^harness/attest/gtest[.]hpp$ | gtest/"
  "+rapidcheck    | ^harness/attest/rapidcheck[.]hpp$ | rapidcheck.h \
                                            properties/generate_rapidcheck.hpp"
  "+tests         | ^harness/[^/]*_test[.]cpp$ | mutants/ tensors/"
  "reports        | ^reports/             | std reports/ fmt/ nlohmann/ attest/verdict.hpp \
                                            attest/problem.hpp attest/status.hpp attest/enclosure.hpp attest/glob.hpp"
  "fuzz           | ^fuzz/                | std attest/ properties/ tensors/ fuzz/ cli/case_store.hpp \
                                            cli/case_text.hpp cli/inputs.hpp \
                                            cli/world_state.hpp cli/exhaustive_state.hpp \
                                            kernels/registry.hpp reference/oracle.hpp foreign/ \
                                            !properties/mutants/ !properties/generate_rapidcheck.hpp"
  "bench          | ^bench/               | std attest/ kernels/ reference/ bench/ benchmark/ Eigen/ \
                                            properties/case.hpp CLI/ fmt/ nlohmann/"
  "+foreign       | ^bench/foreign_overhead[.]cpp$ | foreign/"
  "+peers         | ^bench/peer_[^/]*[.]cpp$ | cblas.h oneapi/dnnl/"
  "+system        | ^bench/(machine|memory|onnxruntime_api)[.]cpp$ | ${system} dlfcn.h malloc.h"
  "+simd          | ^bench/[^/]*_simd[.]cpp$ | hwy/"
  "+mpfr          | ^bench/[^/]*mpfr[^/]*[.]cpp$ | boost/ mpfr.h")

# may_include(FILE PERMISSIONS INCLUDE RESULT): INCLUDE has its quotes or brackets.
function(may_include file permissions include result)
  set(${result} FALSE PARENT_SCOPE)
  string(REGEX REPLACE "^[\"<](.*)[\">]$" "\\1" header "${include}")
  get_filename_component(folder "${file}" DIRECTORY)
  set(allowed FALSE)
  if(include MATCHES "^\"[^/]+\"$" AND EXISTS "${SOURCE_DIR}/${folder}/${header}")
    set(allowed TRUE)
  endif()
  foreach(permission IN LISTS permissions)
    string(REGEX REPLACE "^!" "" name "${permission}")
    string(FIND "${header}" "${name}" at)
    if(name STREQUAL header OR (name MATCHES "/$" AND at EQUAL 0))
      if(permission MATCHES "^!")
        return()
      endif()
      set(allowed TRUE)
    elseif(permission STREQUAL "std" AND include MATCHES "^<[a-z0-9_]+>$")
      set(allowed TRUE)
    endif()
  endforeach()
  set(${result} ${allowed} PARENT_SCOPE)
endfunction()

# check_text(FILE TEXT ERRORS): one line an #include that is not allowed in FILE.
function(check_text file text errors)
  set(room "")
  set(base "")
  set(extra "")
  foreach(row IN LISTS ARROWS)
    string(REGEX MATCH "^([^ ]+) *\\| ([^ ]+) *\\| (.*)$" _ "${row}")
    if(NOT CMAKE_MATCH_0)
      message(FATAL_ERROR "check_arrows: cannot read the row: ${row}")
    endif()
    set(name "${CMAKE_MATCH_1}")
    set(files "${CMAKE_MATCH_2}")
    string(REGEX REPLACE " +" ";" permissions "${CMAKE_MATCH_3}")
    if(NOT file MATCHES "${files}")
      continue()
    elseif(name MATCHES "^[+]")
      list(APPEND extra ${permissions})
    elseif(NOT room)
      set(room "${name}")
      set(base "${permissions}")
    endif()
  endforeach()
  if(NOT room)
    set(${errors} "${file}:1: this file is in no room" PARENT_SCOPE)
    return()
  endif()

  set(found "")
  string(REGEX REPLACE "[][;\\]" " " text "\n${text}") # these characters would break CMake's lists
  string(REGEX MATCHALL "\n[ \t]*#[ \t]*include[^\n]*" lines "${text}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "include[ \t]*(\"[^\"]*\"|<[^>]*>|[^ \t\r]*)" _ "${line}")
    set(include "${CMAKE_MATCH_1}")
    may_include("${file}" "${base}" "${include}" allowed)
    if(NOT allowed)
      may_include("${file}" "${extra}" "${include}" allowed)
    endif()
    if(NOT allowed)
      string(FIND "${text}" "${line}" at)
      math(EXPR at "${at} + 1")
      string(SUBSTRING "${text}" 0 ${at} before)
      string(REGEX REPLACE "[^\n]" "" newlines "${before}")
      string(LENGTH "${newlines}" number)
      list(APPEND found "${file}:${number}: room ${room} may not include ${include}")
    endif()
  endforeach()
  set(${errors} "${found}" PARENT_SCOPE)
endfunction()

# A planted line must be refused (or accepted), whatever the table becomes.
function(expect verdict file include)
  check_text("${file}" "// first line\n#include ${include}\n" errors)
  if((errors AND verdict STREQUAL "accepted") OR (NOT errors AND verdict STREQUAL "refused"))
    message(SEND_ERROR "check_arrows: not ${verdict}: ${file} with #include ${include}")
  elseif(errors AND NOT errors MATCHES ":2: room [^ ]+ may not include |in no room$")
    message(SEND_ERROR "check_arrows: wrong text: ${errors}")
  endif()
endfunction()

if(SELF_TEST)
  expect(refused  include/attest/kernel.hpp       "<boost/multiprecision/mpfr.hpp>")
  expect(refused  include/attest/kernel.hpp       "\"kernels/registry.hpp\"")
  expect(refused  include/attest/kernel.hpp       "<stdio.h>")
  expect(refused  src/vocabulary/tiling.cpp       "<gtest/gtest.h>")
  expect(refused  src/kernels/textbook.cpp        "\"reference/oracle.hpp\"")
  expect(refused  src/kernels/textbook.cpp        "\"hwy/highway.h\"")
  expect(refused  reference/oracle_mpfr.cpp       "\"attest/summary.hpp\"")
  expect(refused  reference/oracle_mpfr.cpp       "\"attest/tiling.hpp\"")
  expect(refused  reference/oracle_mpfr.cpp       "\"attest/kernel.hpp\"")
  expect(refused  reference/oracle_mpfr.cpp       "\"kernels/row_access.hpp\"")
  expect(refused  reference/oracle_test.cpp       "\"attest/summary.hpp\"")
  expect(refused  reference/oracle_mpfr.cpp       "<boost/multiprecision/mpfi.hpp>")
  expect(refused  reference/visibility.cpp        "<mpfr.h>")
  expect(refused  reference/oracle_mpfr.cpp       "\"hwy/highway.h\"")
  expect(refused  reference/oracle_fast.cpp       "<mpfr.h>")
  expect(refused  reference/oracle_fast.cpp       "\"kernels/registry.hpp\"")
  expect(refused  properties/laws_empty.cpp       "<rapidcheck.h>")
  expect(refused  properties/laws_empty.cpp       "\"rapidcheck.h\"")
  expect(refused  properties/laws_empty.cpp       "\"kernels/registry.hpp\"")
  expect(refused  properties/laws_empty.cpp       "\"properties/generate_rapidcheck.hpp\"")
  expect(refused  properties/laws_empty.cpp       "\"properties/mutants/mutants.hpp\"")
  expect(refused  properties/laws_empty.cpp       "\"reports/report.hpp\"")
  expect(refused  properties/mutants/merges.cpp   "<gtest/gtest.h>")
  expect(refused  reports/render_json.cpp         "\"attest/kernel.hpp\"")
  expect(refused  src/cli/main.cpp                "<rapidcheck.h>")
  expect(refused  src/cli/main.cpp                "<mpfr.h>")
  expect(refused  src/cli/main.cpp                "\"properties/generate_rapidcheck.hpp\"")
  expect(refused  fuzz/fuzz_kernels.cpp           "<rapidcheck.h>")
  expect(refused  fuzz/fuzz_kernels.cpp           "SOME_MACRO")
  expect(refused  fuzz/fuzz_kernels.cpp           "\"cli/commands.hpp\"")
  expect(refused  bench/kernels_bench.cpp         "\"properties/laws.hpp\"")
  expect(refused  bench/oracle_bench.cpp          "<mpfr.h>")
  expect(refused  bench/session.cpp               "<cblas.h>")
  expect(refused  harness/attention.cpp           "<gtest/gtest.h>")
  expect(refused  harness/attest/gtest.hpp        "<rapidcheck.h>")
  expect(refused  harness/law_tests.cpp           "\"cli/commands.hpp\"")
  expect(refused  include/attest/kernel.hpp       "\"attest/gtest.hpp\"")
  expect(refused  tools/helper.cpp                "<vector>")
  expect(refused  include/attest/kernel.hpp       "<stdint.h>")
  expect(refused  src/foreign/plugin.cpp          "\"kernels/registry.hpp\"")
  expect(refused  examples/plugin_cpp/kernel.cpp  "\"attest/kernel.hpp\"")
  expect(accepted include/attest/kernel_abi.h     "<stdint.h>")
  expect(accepted src/foreign/plugin.cpp          "<dlfcn.h>")
  expect(accepted include/attest/kernel.hpp       "<vector>")
  expect(accepted src/vocabulary/problem_text.cpp "\"text_cursor.hpp\"")
  expect(accepted src/vocabulary/tiling_test.cpp  "<gtest/gtest.h>")
  expect(accepted src/kernels/simd_forward.cpp    "\"hwy/highway.h\"  // after foreach_target.h")
  expect(accepted src/kernels/simd_dispatch.hpp   "\"hwy/targets.h\"")
  expect(accepted reference/interval_row.hpp      "<mpfr.h>")
  expect(accepted reference/exact_mpfr_test.cpp   "<boost/multiprecision/mpfr.hpp>")
  expect(accepted reference/oracle_mpfr.cpp       "\"attest/error_bound.hpp\"")
  expect(accepted reference/oracle_fast.cpp       "\"hwy/foreach_target.h\"")
  expect(accepted reference/double_double-inl.h   "\"hwy/highway.h\"")
  expect(accepted bench/point_mpfr.cpp            "<boost/multiprecision/mpfr.hpp>")
  expect(accepted bench/peer_openblas.cpp         "<cblas.h>")
  expect(accepted properties/mutants/merges.cpp   "\"kernels/tiled_steps.hpp\"")
  expect(accepted properties/suite_test.cpp       "\"properties/generate_rapidcheck.hpp\"")
  expect(accepted properties/suite_test.cpp       "\"kernels/registry.hpp\"")
  expect(accepted harness/attest/gtest.hpp        "<gtest/gtest.h>")
  expect(refused  examples/foreign/eigen_attention.cpp "\"attest/kernel.hpp\"")
  expect(accepted examples/foreign/eigen_attention.cpp "\"attest/kernel_abi.h\"")
  expect(accepted fuzz/fuzz_case_file.cpp         "\"cli/case_store.hpp\"")
  return()
endif()

file(GLOB_RECURSE files RELATIVE "${SOURCE_DIR}"
  "${SOURCE_DIR}/*.cpp" "${SOURCE_DIR}/*.hpp" "${SOURCE_DIR}/*.h")
list(FILTER files EXCLUDE REGEX "^(build|[.][^/]*)/")
set(wrong 0)
set(count 0)
foreach(file IN LISTS files)
  file(READ "${SOURCE_DIR}/${file}" text)
  check_text("${file}" "${text}" errors)
  math(EXPR count "${count} + 1")
  foreach(error IN LISTS errors)
    message("${error}")
    math(EXPR wrong "${wrong} + 1")
  endforeach()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "check_arrows: no source files under '${SOURCE_DIR}'")
elseif(wrong GREATER 0)
  message(FATAL_ERROR "check_arrows: ${wrong} includes against the arrows of docs/design.md")
endif()
