# Tests of the repository itself: include arrows, public headers, format, the script `run`.
if(NOT ATTEST_TESTS)
  return()
endif()

set(check_arrows ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR})
add_test(NAME arrows
  COMMAND ${check_arrows} -P ${PROJECT_SOURCE_DIR}/cmake/check_arrows.cmake)
add_test(NAME arrows_selftest
  COMMAND ${check_arrows} -DSELF_TEST=ON -P ${PROJECT_SOURCE_DIR}/cmake/check_arrows.cmake)

# Every public header compiles alone: one source file each, which includes only it.
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
  ${PROJECT_SOURCE_DIR}/include/attest/*.hpp ${PROJECT_SOURCE_DIR}/include/attest/*.h)
set(sources "")
foreach(header IN LISTS headers)
  set(source ${PROJECT_BINARY_DIR}/public_headers/${header}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n")
  list(APPEND sources ${source})
endforeach()
add_library(attest_public_headers OBJECT ${sources})
target_link_libraries(attest_public_headers PRIVATE attest::vocabulary attest_flags)
add_test(NAME public_headers_alone
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target attest_public_headers)

# The catalogue that attest_add_kernel_test reads is that of the program.
add_test(NAME law_names COMMAND ${CMAKE_COMMAND} -DATTEST=$<TARGET_FILE:attest>
  -DNAMES=${PROJECT_BINARY_DIR}/package/attest_law_names.cmake
  -P ${PROJECT_SOURCE_DIR}/cmake/check_law_names.cmake)
set_tests_properties(law_names PROPERTIES TIMEOUT 60)

# An outside project against the installed tree. Instrumented archives need instrumented projects.
if(ATTEST_INSTALL AND NOT ATTEST_SANITIZE AND NOT ATTEST_COVERAGE)
  add_test(NAME install_outside_project
    COMMAND ${PROJECT_SOURCE_DIR}/examples/install_test.sh ${PROJECT_BINARY_DIR}
            ${CMAKE_CXX_COMPILER} ${PROJECT_BINARY_DIR}/install_test)
  set_tests_properties(install_outside_project PROPERTIES TIMEOUT 600 LABELS install)
endif()

find_program(ATTEST_CLANG_FORMAT clang-format-14)
if(ATTEST_CLANG_FORMAT)
  add_test(NAME format COMMAND ${PROJECT_SOURCE_DIR}/run check-format)
endif()

add_test(NAME run_help COMMAND ${PROJECT_SOURCE_DIR}/run help)

set_tests_properties(arrows arrows_selftest public_headers_alone run_help PROPERTIES TIMEOUT 120)
