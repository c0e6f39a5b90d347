# idem_target(target): what every target of this project shares. Touches that target only.
function(idem_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(IDEM_DEVELOPER)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion)
    # Wrong in g++: parts of an empty std::optional that are read are seen by 12 with a sanitizer, and by 14 at -O2; copies
    # inside std::string that overlap by 12 at -O3.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
      if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        target_compile_options(${target} PRIVATE -Wno-restrict)
      endif()
    endif()
    if(IDEM_WERROR)
      target_compile_options(${target} PRIVATE -Werror)
    endif()
  endif()
endfunction()

set(IDEM_TEST_CXX_FLAGS "" CACHE STRING
  "How the tests' own code, and the programs that they run, are compiled, after what the library is compiled with")
separate_arguments(idem_test_flags NATIVE_COMMAND "${IDEM_TEST_CXX_FLAGS}")

# idem_program_target(target [header...]): what the example's programs and idemctl share. Where idem itself is worked on, they are
# compiled as the tests are, and these headers once for all sources of the target. Each source includes what it uses none the less:
# the presets clang, tsan and release have no precompiled headers.
function(idem_program_target target)
  idem_target(${target})
  if(NOT IDEM_DEVELOPER)
    return()
  endif()
  target_compile_options(${target} PRIVATE ${idem_test_flags})
  if(ARGN)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      # Otherwise a precompiled header would be good for one checkout only, and no cached object for the next.
      target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    elseif(idem_test_flags STREQUAL "" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # Wrong in g++ 12, about the inside of std::string where it optimises and has that from a precompiled header.
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
    endif()
  endif()
endfunction()

# idem_library(name [STATIC]): a library target idem_<name>, known as idem::<name> here and where it is installed. With STATIC
# whatever BUILD_SHARED_LIBS says.
function(idem_library name)
  add_library(idem_${name} ${ARGN})
  add_library(idem::${name} ALIAS idem_${name})
  idem_target(idem_${name})
  set_target_properties(idem_${name} PROPERTIES
    EXPORT_NAME ${name}
    OUTPUT_NAME idem-${name}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(idem_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
endfunction()
