# Fuzz targets, of attest and of a project that has it in its tree or installed. One source, two drivers: an engine (ATTEST_LIBFUZZER or ATTEST_FUZZ_ENGINE), else a
# main that replays files, so that every build has every target.

# attest_fuzzer(NAME SOURCES ... USES ... [CORPUS folder]): the program, and one ctest that runs the
# corpus (corpus/NAME).
function(attest_fuzzer name)
  cmake_parse_arguments(fuzzer "" "CORPUS" "SOURCES;USES" ${ARGN})
  if(NOT fuzzer_CORPUS)
    set(fuzzer_CORPUS ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  endif()
  add_executable(${name} ${fuzzer_SOURCES})
  target_link_libraries(${name} PRIVATE ${fuzzer_USES})
  if(TARGET attest_flags)
    target_link_libraries(${name} PRIVATE attest_flags)
  endif()
  # The folders of attest have these flags anyway; a target of another project has them from here.
  if(ATTEST_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${ATTEST_SANITIZE} -fno-sanitize-recover=all
                                           -fno-omit-frame-pointer)
    target_link_options(${name} PRIVATE -fsanitize=${ATTEST_SANITIZE})
  endif()
  if(ATTEST_LIBFUZZER)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  set(engine ${ATTEST_FUZZ_ENGINE})
  if(ATTEST_LIBFUZZER AND NOT engine)
    set(engine -fsanitize=fuzzer) # attest is installed
  endif()
  if(engine)
    target_link_libraries(${name} PRIVATE ${engine})
    set(replay ${name} -runs=0 ${fuzzer_CORPUS})
  else()
    attest_fuzz_folder(folder)
    target_sources(${name} PRIVATE ${folder}/replay_main.cpp)
    set(replay ${name} ${fuzzer_CORPUS})
  endif()
  if(ATTEST_TESTS OR attest_FUZZ_DIR)
    add_test(NAME ${name}_corpus COMMAND ${replay})
    set_tests_properties(${name}_corpus PROPERTIES TIMEOUT 120 LABELS fuzz)
  endif()
endfunction()

# attest_fuzz_folder(RESULT): where the sources are, installed or in the source tree.
function(attest_fuzz_folder result)
  if(attest_FUZZ_DIR)
    set(${result} ${attest_FUZZ_DIR} PARENT_SCOPE)
  else()
    set(${result} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../fuzz PARENT_SCOPE)
  endif()
endfunction()

# attest_add_fuzzer(NAME KERNEL_HEADER header KERNEL_FACTORY function [LAWS laws|merge|backward]
#                   [SOURCES ...] [USES ...] [CORPUS folder])
# A fuzz target around a kernel that is linked in. The header declares the function, which returns
# std::unique_ptr<attest::Kernel> or what becomes one; SOURCES and USES are what it needs.
function(attest_add_fuzzer name)
  cmake_parse_arguments(kernel "" "KERNEL_HEADER;KERNEL_FACTORY;LAWS;CORPUS" "SOURCES;USES" ${ARGN})
  if(NOT kernel_KERNEL_HEADER OR NOT kernel_KERNEL_FACTORY)
    message(FATAL_ERROR "attest_add_fuzzer(${name}) needs KERNEL_HEADER and KERNEL_FACTORY")
  endif()
  if(NOT kernel_LAWS)
    set(kernel_LAWS laws)
  endif()
  attest_fuzz_folder(folder)
  if(NOT kernel_CORPUS)
    set(kernel_CORPUS ${folder}/corpus/fuzz_${kernel_LAWS})
  endif()
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/${name}_linked_kernel.cpp)
  configure_file(${folder}/linked_kernel.cpp.in ${linked} @ONLY)
  attest_fuzzer(${name}
    SOURCES ${folder}/fuzz_${kernel_LAWS}.cpp ${linked} ${kernel_SOURCES}
    USES attest::law_target ${kernel_USES}
    CORPUS ${kernel_CORPUS})
endfunction()
