# Tests of a kernel: one ctest a law, each a run of `attest check KERNEL --only LAW`.

# attest_add_kernel_test(NAME name
#                        KERNEL target KERNEL_HEADER header KERNEL_FACTORY function
#                      | KERNEL target | FILE.so | pipe:COMMAND | builtin:NAME
#                        [TIER smoke|ci|nightly] [LAWS glob...] [SKIP glob...] [DTYPES dtype...]
#                        [TIMEOUT seconds] [ARGUMENTS argument...])
#
# A linked kernel: the library target has the function, which the header declares and which returns
# std::unique_ptr<attest::Kernel> or what becomes one. It is built into a program NAME_attest, which
# is attest with this kernel in it: `NAME_attest replay ...`, `NAME_attest sweep ...`.
# Any other kernel is started by the program attest; a target that is a shared library or a module
# stands for its file.
# The tests are NAME.LAW, with labels attest, NAME and the family of the law. What a law finds is
# saved below attest-out of the build folder. A law that says nothing of the kernel is skipped.
function(attest_add_kernel_test)
  cmake_parse_arguments(test "" "NAME;KERNEL;KERNEL_HEADER;KERNEL_FACTORY;TIER;TIMEOUT"
    "LAWS;SKIP;DTYPES;ARGUMENTS" ${ARGN})
  if(NOT test_NAME OR NOT test_KERNEL)
    message(FATAL_ERROR "attest_add_kernel_test needs NAME and KERNEL")
  endif()
  if(test_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attest_add_kernel_test(${test_NAME}): unknown: ${test_UNPARSED_ARGUMENTS}")
  endif()
  attest_default(test_TIER smoke)
  attest_default(test_TIMEOUT 600)
  attest_default(test_LAWS *)
  if(NOT test_TIER MATCHES "^(smoke|ci|nightly)$")
    message(FATAL_ERROR "attest_add_kernel_test(${test_NAME}): TIER is smoke, ci or nightly")
  endif()
  attest_matching_laws(laws "${test_LAWS}" "${test_SKIP}" ${test_NAME})
  attest_kernel_command(command)
  list(GET command 0 program)
  # A replay line then is a command wherever the program lies.
  set(environment "ATTEST_COMMAND=${program}")
  if(test_DTYPES)
    list(JOIN test_DTYPES , dtypes)
    list(APPEND test_ARGUMENTS --dtype ${dtypes})
  endif()
  foreach(law IN LISTS laws)
    set(name ${test_NAME}.${law})
    add_test(NAME ${name} COMMAND ${command} --only ${law} --tier ${test_TIER}
      --out ${CMAKE_CURRENT_BINARY_DIR}/attest-out/${name} ${test_ARGUMENTS})
    string(REGEX REPLACE "[.].*" "" family ${law})
    set_tests_properties(${name} PROPERTIES
      TIMEOUT ${test_TIMEOUT} LABELS "attest;${test_NAME};${family}"
      ENVIRONMENT "${environment}"
      # Not a pass: ctest counts it apart.
      SKIP_REGULAR_EXPRESSION "UNDECIDED +nothing was checked")
  endforeach()
endfunction()

# attest_default(VARIABLE value...): where it is not set.
macro(attest_default variable)
  if(NOT ${variable})
    set(${variable} ${ARGN})
  endif()
endmacro()

# attest_matching_laws(RESULT only skip name): laws of the catalogue, in its order. A glob that
# matches none is an error.
function(attest_matching_laws result only skip name)
  set(names ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/attest_law_names.cmake)
  if(NOT EXISTS ${names})
    set(names ${attest_BINARY_DIR}/package/attest_law_names.cmake) # the source tree
  endif()
  include(${names})
  set(found "")
  set(matched "")
  foreach(law IN LISTS ATTEST_LAW_NAMES)
    set(keep FALSE)
    foreach(kind "only" "skip")
      foreach(glob IN LISTS ${kind})
        string(REPLACE "." "[.]" pattern "${glob}")
        string(REPLACE "*" ".*" pattern "${pattern}")
        string(REPLACE "?" "." pattern "${pattern}")
        if(law MATCHES "^${pattern}$")
          list(APPEND matched "${glob}")
          if(kind STREQUAL "only")
            set(keep TRUE)
          else()
            set(keep FALSE)
          endif()
        endif()
      endforeach()
    endforeach()
    if(keep)
      list(APPEND found ${law})
    endif()
  endforeach()
  foreach(glob IN LISTS only skip)
    if(NOT glob IN_LIST matched)
      message(FATAL_ERROR "attest_add_kernel_test(${name}): no law matches '${glob}' "
        "(attest list laws shows them)")
    endif()
  endforeach()
  if(NOT found)
    message(FATAL_ERROR "attest_add_kernel_test(${name}): LAWS and SKIP leave no law")
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# attest_kernel_command(RESULT): the program and its arguments up to the kernel. Reads test_*.
function(attest_kernel_command result)
  if(test_KERNEL_FACTORY AND test_KERNEL_HEADER)
    attest_linked_program(${test_NAME}_attest)
    set(${result} $<TARGET_FILE:${test_NAME}_attest> check linked PARENT_SCOPE)
    return()
  elseif(test_KERNEL_FACTORY OR test_KERNEL_HEADER)
    message(FATAL_ERROR
      "attest_add_kernel_test(${test_NAME}): KERNEL_HEADER and KERNEL_FACTORY belong together")
  endif()
  set(kernel "${test_KERNEL}")
  if(TARGET "${kernel}")
    get_target_property(type ${kernel} TYPE)
    if(NOT type MATCHES "^(SHARED|MODULE)_LIBRARY$")
      message(FATAL_ERROR "attest_add_kernel_test(${test_NAME}): ${kernel} is no shared library; a "
        "kernel that is linked in needs KERNEL_HEADER and KERNEL_FACTORY")
    endif()
    set(kernel $<TARGET_FILE:${kernel}>)
  endif()
  set(program attest::attest)
  if(NOT TARGET attest::attest)
    set(program attest)
  endif()
  set(${result} $<TARGET_FILE:${program}> check "${kernel}" PARENT_SCOPE)
endfunction()

# attest_linked_program(NAME): attest with the kernel of test_KERNEL, test_KERNEL_HEADER and
# test_KERNEL_FACTORY.
function(attest_linked_program name)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}_linked.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/linked_program.cpp.in ${source} @ONLY)
  set(data "${attest_DATA_DIR}")
  if(NOT data)
    set(data ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../data/real) # the source tree
  endif()
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE attest::main ${test_KERNEL})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
    ATTEST_LINKED_COMMAND="$<TARGET_FILE:${name}>" ATTEST_LINKED_DATA="${data}")
endfunction()
