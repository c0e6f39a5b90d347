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
