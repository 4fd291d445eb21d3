# Whether attest_law_names.cmake has the laws of the program, all and in order.
#   cmake -DATTEST=... -DNAMES=... -P cmake/check_law_names.cmake
include(${NAMES})
execute_process(COMMAND ${ATTEST} list laws OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[][;]" " " text "\n${text}")
string(REGEX MATCHALL "\n[a-z][^ \n]*" laws "${text}")
list(TRANSFORM laws STRIP)
if(NOT laws STREQUAL "${ATTEST_LAW_NAMES}")
  message(FATAL_ERROR "attest list laws says\n${laws}\nand ${NAMES}\n${ATTEST_LAW_NAMES}")
endif()
