# Real runs, one that passes and one that does not, in every format that has a schema.
#   cmake -DATTEST=build/release/attest -DWORK=FOLDER [-DSARIF_SCHEMA=FILE] -P reports/schema/check_schemas.cmake
# The schemas beside this file are attest's own: they say what it writes. SARIF_SCHEMA is that of the
# standard (./run check-schemas fetches it).
cmake_minimum_required(VERSION 3.25)
set(schemas ${CMAKE_CURRENT_LIST_DIR})
find_program(XMLLINT xmllint)
# Debian's, which has the package; another one may stand before it.
find_program(PYTHON python3 HINTS /usr/bin)
execute_process(COMMAND ${PYTHON} -c "import jsonschema" RESULT_VARIABLE no_jsonschema ERROR_QUIET)
if(NOT XMLLINT OR NOT PYTHON OR no_jsonschema)
  message("SKIPPED: needs the Debian packages libxml2-utils and python3-jsonschema")
  return()
endif()

function(run)
  cmake_parse_arguments(run "" "EXPECT" "COMMAND" ${ARGN})
  execute_process(COMMAND ${run_COMMAND} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code
    OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code STREQUAL run_EXPECT)
    message(FATAL_ERROR "exit code ${code}, not ${run_EXPECT}: ${run_COMMAND}\n${text}")
  endif()
endfunction()

# validate(SCHEMA FILE...)
function(validate schema)
  run(EXPECT 0 COMMAND ${PYTHON} ${schemas}/validate.py ${schema} ${ARGN})
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(EXPECT 0 COMMAND ${ATTEST} check builtin:textbook --tier smoke --out good)
run(EXPECT 1 COMMAND ${ATTEST} check mutant:causal_one_too_many --tier smoke --out bad)
run(EXPECT 0 COMMAND ${ATTEST} sweep builtin:textbook --over lk=64:128 --out sweep)

# A run that was killed.
execute_process(COMMAND head -n 100 ${WORK}/good/run.jsonl OUTPUT_FILE ${WORK}/killed.jsonl)

foreach(name good bad sweep)
  validate(${schemas}/run_line.schema.json ${WORK}/${name}/run.jsonl)
endforeach()
foreach(name good bad sweep killed.jsonl)
  foreach(ending json sarif xml)
    run(EXPECT 0 COMMAND ${ATTEST} report ${name} -o ${name}.${ending})
  endforeach()
  validate(${schemas}/page.schema.json ${WORK}/${name}.json)
  file(RENAME ${WORK}/${name}.sarif ${WORK}/${name}.sarif.json)
  validate(${schemas}/sarif.schema.json ${WORK}/${name}.sarif.json)
  run(EXPECT 0 COMMAND ${XMLLINT} --noout --schema ${schemas}/junit.xsd ${WORK}/${name}.xml)
  if(SARIF_SCHEMA)
    validate(${SARIF_SCHEMA} ${WORK}/${name}.sarif.json)
  endif()
endforeach()

# The validators refuse what is wrong.
file(READ ${WORK}/bad.sarif.json text)
string(REPLACE "\"level\": \"error\"" "\"level\": \"terrible\"" text "${text}")
file(WRITE ${WORK}/planted.sarif.json "${text}")
run(EXPECT 1 COMMAND ${PYTHON} ${schemas}/validate.py ${schemas}/sarif.schema.json ${WORK}/planted.sarif.json)
if(SARIF_SCHEMA)
  run(EXPECT 1 COMMAND ${PYTHON} ${schemas}/validate.py ${SARIF_SCHEMA} ${WORK}/planted.sarif.json)
  message("SARIF accepted by ${SARIF_SCHEMA}")
endif()
file(READ ${WORK}/bad.xml text)
string(REPLACE "<testcase " "<testcas " text "${text}")
file(WRITE ${WORK}/planted.xml "${text}")
execute_process(COMMAND ${XMLLINT} --noout --schema ${schemas}/junit.xsd ${WORK}/planted.xml
  RESULT_VARIABLE code ERROR_QUIET)
if(code EQUAL 0)
  message(FATAL_ERROR "xmllint accepted a planted mistake")
endif()
message("run.jsonl, page JSON, SARIF and JUnit accepted by the schemas of ${schemas}")
