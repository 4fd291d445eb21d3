# What `cmake --install` copies, in components: tool (the program, its data, manual and completions),
# dev (headers, libraries, CMake files), bench (timing, for the machine that built it).
set(made ${PROJECT_BINARY_DIR}/package)

# The catalogue, for attest_add_kernel_test; the test law_names compares it.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS properties/laws.cpp)
file(STRINGS properties/laws.cpp lines REGEX "Law{\"")
list(TRANSFORM lines REPLACE ".*Law{\"([a-z_.0-9]+)\".*" "\\1")
list(JOIN lines "\n  " lines)
file(CONFIGURE OUTPUT ${made}/attest_law_names.cmake @ONLY
  CONTENT "set(ATTEST_LAW_NAMES\n  @lines@)\n")

if(NOT ATTEST_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

# -- tool -----------------------------------------------------------------------------------------

install(TARGETS attest EXPORT attest COMPONENT tool)
install(DIRECTORY data/real DESTINATION ${ATTEST_SHARE_DIR} COMPONENT tool)
install(FILES examples/pipe_numpy/attest_pipe.py DESTINATION ${ATTEST_SHARE_DIR}/pipe COMPONENT tool)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
# Worked kernels that the pages name; what makes tests of them here is left out.
foreach(example plugin_c plugin_cpp pipe_numpy)
  install(DIRECTORY examples/${example} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT tool
    PATTERN __pycache__ EXCLUDE)
endforeach()
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool
  FILES_MATCHING PATTERN "*.md")

# The manual and the completions are made from the program's own tables of options.
set(texts "")
foreach(text man:attest.1 bash:attest.bash zsh:_attest fish:attest.fish)
  string(REGEX MATCH "^(.*):(.*)$" _ ${text})
  set(form ${CMAKE_MATCH_1})
  set(file ${made}/${CMAKE_MATCH_2})
  add_custom_command(OUTPUT ${file} DEPENDS attest VERBATIM
    COMMAND attest completion ${form} > ${file})
  list(APPEND texts ${file})
endforeach()
add_custom_target(attest_texts ALL DEPENDS ${texts})
install(FILES ${made}/attest.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
install(FILES ${made}/attest.bash RENAME attest COMPONENT tool
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${made}/_attest COMPONENT tool
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${made}/attest.fish COMPONENT tool
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# -- dev ------------------------------------------------------------------------------------------

# attest_export(EXPORT targets...): as attest::NAME, with the installed headers.
function(attest_export export)
  foreach(target IN LISTS ARGN)
    string(REGEX REPLACE "^attest_" "" name ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(folders)
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
        "$<BUILD_INTERFACE:${folders}>")
    endif()
    target_include_directories(${target} INTERFACE
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
      $<INSTALL_INTERFACE:${ATTEST_ROOM_HEADERS}>)
  endforeach()
  install(TARGETS ${ARGN} EXPORT ${export} COMPONENT dev
    OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/attest COMPONENT dev)
  install(EXPORT ${export} NAMESPACE attest:: FILE ${export}-targets.cmake
    DESTINATION ${ATTEST_CMAKE_DIR} COMPONENT dev)
endfunction()

# What a shared object needs: kernel_abi.h.
add_library(attest_plugin INTERFACE)

get_property(rooms GLOBAL PROPERTY ATTEST_ROOMS)
list(REMOVE_ITEM rooms bench generators)
list(TRANSFORM rooms PREPEND attest_)
attest_export(attest ${rooms} attest_main attest_law_target attest_plugin)
# Components that need what not everybody has.
if(TARGET attest_gtest)
  attest_export(attest-gtest attest_gtest)
endif()
if(TARGET attest_rapidcheck)
  attest_export(attest-rapidcheck attest_generators attest_rapidcheck)
endif()

install(DIRECTORY include/attest harness/attest DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT dev FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
foreach(folder properties harness src/tensors)
  cmake_path(GET folder FILENAME name)
  install(DIRECTORY ${folder}/ DESTINATION ${ATTEST_ROOM_HEADERS}/${name} COMPONENT dev
    FILES_MATCHING PATTERN "*.hpp" PATTERN "test_*" EXCLUDE PATTERN mutants EXCLUDE
    PATTERN harness/attest EXCLUDE)
endforeach()
# Of the others what a user or one of these headers includes: the test install_outside_project
# compiles them all.
foreach(header reference/oracle.hpp reference/gradients.hpp reference/row.hpp
    reference/visibility.hpp
    fuzz/law_target.hpp fuzz/case_input.hpp src/kernels/kernels.hpp src/kernels/registry.hpp
    src/cli/linked_program.hpp)
  string(REGEX REPLACE "^src/" "" place ${header})
  cmake_path(GET place PARENT_PATH place)
  install(FILES ${header} DESTINATION ${ATTEST_ROOM_HEADERS}/${place} COMPONENT dev)
endforeach()
install(DIRECTORY examples/cmake_project DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT dev)
# Sources that a fuzz target of another project compiles with its own flags.
install(FILES fuzz/fuzz_laws.cpp fuzz/fuzz_merge.cpp fuzz/fuzz_backward.cpp fuzz/replay_main.cpp
  fuzz/linked_kernel.cpp.in DESTINATION ${ATTEST_SHARE_DIR}/fuzz COMPONENT dev)
foreach(laws laws merge backward)
  install(DIRECTORY fuzz/corpus/fuzz_${laws} DESTINATION ${ATTEST_SHARE_DIR}/fuzz/corpus
    COMPONENT dev)
endforeach()

configure_package_config_file(cmake/attestConfig.cmake.in ${made}/attestConfig.cmake
  INSTALL_DESTINATION ${ATTEST_CMAKE_DIR} PATH_VARS ATTEST_SHARE_DIR)
write_basic_package_version_file(${made}/attestConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${made}/attestConfig.cmake ${made}/attestConfigVersion.cmake
  ${made}/attest_law_names.cmake cmake/attest_kernel_test.cmake cmake/attest_fuzzer.cmake
  cmake/linked_program.cpp.in DESTINATION ${ATTEST_CMAKE_DIR} COMPONENT dev)

# -- bench ----------------------------------------------------------------------------------------

# Compiled for the machine that it is built on, so it is in no package.
if(TARGET attention_bench)
  set_target_properties(attention_bench PROPERTIES INSTALL_RPATH $ORIGIN)
  set(place DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/attest COMPONENT bench EXCLUDE_FROM_ALL)
  install(TARGETS attention_bench attest_bench_eigen RUNTIME ${place} LIBRARY ${place})
endif()

include(package)
