# The stored sample is one run: its schema holds, and its JSON still renders to the same reports.
#   cmake -DATTEST=build/release/attest -DWORK=FOLDER -P reports/sample/check_sample.cmake
cmake_minimum_required(VERSION 3.25)
set(sample ${CMAKE_CURRENT_LIST_DIR})
get_filename_component(schemas ${sample}/../schema ABSOLUTE)
# Debian's, which has the package; another one may stand before it.
find_program(PYTHON python3 HINTS /usr/bin)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "exit code ${code}: ${ARGN}\n${text}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
foreach(name report.md accuracy.md)
  run(${ATTEST} report ${sample}/run.jsonl -o ${WORK}/${name})
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${WORK}/${name} ${sample}/${name}
    RESULT_VARIABLE differs ERROR_QUIET)
  if(differs)
    message(FATAL_ERROR "${name} is not what run.jsonl renders to; ./run sample makes it anew")
  endif()
endforeach()

# The page has the same data; the rest of it is the page of the day it was made.
run(${ATTEST} report ${sample}/run.jsonl -o ${WORK}/report.json)
file(STRINGS ${sample}/report.html page REGEX "attest-page")
if(NOT page)
  message(FATAL_ERROR "report.html has no data")
endif()

file(GLOB files ${sample}/*)
set(bytes 0)
foreach(file IN LISTS files)
  file(SIZE ${file} size)
  math(EXPR bytes "${bytes} + ${size}")
endforeach()
# git keeps them in less than a megabyte; whoever reads them does not.
if(bytes GREATER 8388608)
  message(FATAL_ERROR "the sample has ${bytes} bytes; 8 MiB are enough")
endif()

execute_process(COMMAND ${PYTHON} -c "import jsonschema" RESULT_VARIABLE no_jsonschema ERROR_QUIET)
if(NOT PYTHON OR no_jsonschema)
  message("schemas not checked: needs the Debian package python3-jsonschema")
  return()
endif()
run(${PYTHON} ${schemas}/validate.py ${schemas}/run_line.schema.json ${sample}/run.jsonl)
run(${PYTHON} ${schemas}/validate.py ${schemas}/page.schema.json ${WORK}/report.json)
