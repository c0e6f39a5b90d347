# cmake -DSOURCE=… -DCOMPILE=… -P check.cmake: SOURCE compiles as it is, and does not with MUST_NOT_COMPILE defined; the
# compiler then says what the source's line "// expect: REGEX" says. Without the first half, a snippet that has rotted
# would pass for ever.
file(STRINGS ${SOURCE} expect REGEX "^// expect: ")
string(REPLACE "// expect: " "" expect "${expect}")
if(expect STREQUAL "")
  message(FATAL_ERROR "${SOURCE} says nothing to expect")
endif()

execute_process(COMMAND ${COMPILE} ${SOURCE} RESULT_VARIABLE status ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the right code does not compile:\n${said}")
endif()
execute_process(COMMAND ${COMPILE} -DMUST_NOT_COMPILE ${SOURCE} RESULT_VARIABLE status ERROR_VARIABLE said)
if(status EQUAL 0)
  message(FATAL_ERROR "the wrong code compiles")
endif()
if(NOT said MATCHES "${expect}")
  message(FATAL_ERROR "it does not compile, but not for the reason expected (${expect}):\n${said}")
endif()
