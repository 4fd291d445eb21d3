# One function per kind of target. A room is a folder, a namespace and a static library; the list
# after USES is its permission to include (cmake/check_arrows.cmake checks the include lines too).

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_package(Threads REQUIRED)

add_library(attest_flags INTERFACE)
target_compile_options(attest_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  # The error analysis counts every rounding: no contraction, and never fast-math.
  -ffp-contract=off
  # False alarms of GCC 12 on string concatenation (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # clang blames us for what libstdc++ uses of its own deprecated functions (std::stable_sort).
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(ATTEST_WERROR)
  target_compile_options(attest_flags INTERFACE -Werror)
endif()
if(ATTEST_SANITIZE)
  # Global, so that RapidCheck's and GoogleTest's headers are compiled with it as well.
  add_compile_options(-fsanitize=${ATTEST_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ATTEST_SANITIZE})
endif()
option(ATTEST_LIBFUZZER "Link fuzz targets with libFuzzer (clang)" OFF)
set(ATTEST_FUZZ_ENGINE "" CACHE STRING
  "What drives the fuzz targets instead, as a linker argument; the flags bring its feedback")
if(ATTEST_LIBFUZZER)
  # Coverage feedback from every room.
  add_compile_options(-fsanitize=fuzzer-no-link)
  set(ATTEST_FUZZ_ENGINE -fsanitize=fuzzer CACHE STRING "" FORCE)
endif()
if(ATTEST_COVERAGE)
  include(coverage)
endif()

# attest_for_installed(RESULT libraries...): what a room uses in its bodies alone, as an installed room
# asks for it: headers are no longer needed, and a library that was found as a file goes by its name.
function(attest_for_installed result)
  set(headers_only Eigen3::Eigen nlohmann_json::nlohmann_json CLI11::CLI11)
  set(installed "")
  foreach(library IN LISTS ARGN)
    if(library IN_LIST headers_only)
      list(APPEND installed $<BUILD_INTERFACE:${library}>)
    elseif(IS_ABSOLUTE "${library}")
      cmake_path(GET library STEM name)
      string(REGEX REPLACE "^lib" "" name "${name}")
      list(APPEND installed $<BUILD_INTERFACE:${library}> $<INSTALL_INTERFACE:${name}>)
    else()
      list(APPEND installed ${library})
    endif()
  endforeach()
  set(${result} ${installed} PARENT_SCOPE)
endfunction()

# attest_room(NAME SOURCES ... [USES targets...] [PRIVATELY targets...])
function(attest_room name)
  cmake_parse_arguments(room "" "" "SOURCES;USES;PRIVATELY" ${ARGN})
  add_library(attest_${name} STATIC ${room_SOURCES})
  add_library(attest::${name} ALIAS attest_${name})
  attest_for_installed(privately ${room_PRIVATELY})
  target_link_libraries(attest_${name} PUBLIC ${room_USES}
    PRIVATE ${privately} $<BUILD_INTERFACE:attest_flags>)
  set_property(GLOBAL APPEND PROPERTY ATTEST_ROOMS ${name})
  # The headers need it, in a project around this one, too.
  target_compile_features(attest_${name} PUBLIC cxx_std_20)
endfunction()

if(ATTEST_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# attest_test(NAME SOURCES ... USES ... [LABELS ...] [TIMEOUT seconds]): one ctest a TEST().
function(attest_test name)
  if(NOT ATTEST_TESTS)
    return()
  endif()
  cmake_parse_arguments(test "" "TIMEOUT" "SOURCES;USES;LABELS" ${ARGN})
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  if(ATTEST_COVERAGE)
    math(EXPR test_TIMEOUT "6 * ${test_TIMEOUT}") # counters in every block take their time
  endif()
  add_executable(${name} ${test_SOURCES})
  target_link_libraries(${name} PRIVATE ${test_USES} GTest::gmock GTest::gtest_main attest_flags)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${test_TIMEOUT} LABELS "${test_LABELS}")
endfunction()
