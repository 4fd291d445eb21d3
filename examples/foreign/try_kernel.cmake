# Tries one foreign kernel: it must be within its bounds where it should be, and be caught where its
# convention is another one.
#   cmake -DATTEST=attest -DKERNEL=NAME -DWORK=FOLDER [-DNEEDS=COMMAND] -P try_kernel.cmake
cmake_minimum_required(VERSION 3.25)

if(NEEDS)
  execute_process(COMMAND ${NEEDS} RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  if(NOT missing STREQUAL 0)
    message("SKIPPED: ${NEEDS} fails here")
    return()
  endif()
endif()

# expect(CODE LAWS PROBLEM...): attest check gives that exit code.
function(expect code laws)
  execute_process(COMMAND ${ATTEST} check ${KERNEL} ${ARGN} --only ${laws} -j 1 --shrink-time 0
                          --out ${WORK}
    RESULT_VARIABLE got OUTPUT_VARIABLE words ERROR_VARIABLE words)
  if(NOT got STREQUAL code)
    message(FATAL_ERROR "exit code ${got}, not ${code}, of ${KERNEL} on ${ARGN}\n${words}")
  endif()
  if(code EQUAL 0 AND words MATCHES "bound[.]out +[0-9]+ +0 ")
    message(FATAL_ERROR "${KERNEL} was judged on nothing\n${words}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
expect(0 "bound.out,bound.lse"
  "1x2:7x9:5/3 f32 lse=ln" "1x2:5x9:16 f32 mask=causal:br lse=ln" "*x2:3x{5,2}:8 f32 lse=ln"
  "1x1:3x5:4 f32 mask=bits:10110/01011/11111 lse=ln" "1x2:7x33:16 f64 lse=ln"
  "1x1:2x3:2 f32 mask=bits:101/000 empty=nan:any")
# NaN, where the problem asks for zero.
expect(1 "bound.out" "1x1:2x3:2 f32 mask=bits:101/000")
