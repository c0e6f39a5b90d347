# The installed package: find_package(idem 0.1 COMPONENTS core http postgres zlib testing), and idem-core.pc and its like.
include(CMakePackageConfigHelpers)

set(idem_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/idem)
set(idem_components core http)
if(IDEM_POSTGRES)
  list(APPEND idem_components postgres)
endif()
if(IDEM_ZLIB)
  list(APPEND idem_components zlib)
endif()
if(IDEM_TESTING)
  list(APPEND idem_components testing)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sql/ DESTINATION ${CMAKE_INSTALL_DATADIR}/idem/sql FILES_MATCHING PATTERN "*.sql")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Relative, so that the whole prefix may be moved.
file(RELATIVE_PATH idem_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" idem_pc_prefix "${idem_pc_prefix}")
# Whoever links a static library links what it needs too.
get_target_property(idem_core_type idem_core TYPE)
if(idem_core_type STREQUAL "STATIC_LIBRARY")
  set(idem_pc_requires Requires)
else()
  set(idem_pc_requires Requires.private)
endif()
foreach(component IN LISTS idem_components)
  install(TARGETS idem_${component} EXPORT idem-${component}-targets)
  install(EXPORT idem-${component}-targets NAMESPACE idem:: DESTINATION ${idem_package_dir})
  configure_file(cmake/idem-${component}.pc.in ${PROJECT_BINARY_DIR}/idem-${component}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/idem-${component}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

list(JOIN idem_components ", " idem_component_names)
configure_package_config_file(cmake/idem-config.cmake.in ${PROJECT_BINARY_DIR}/idem-config.cmake
  INSTALL_DESTINATION ${idem_package_dir} NO_SET_AND_CHECK_MACRO)
# While the major version is 0, a minor version may break.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/idem-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/idem-config.cmake
  ${PROJECT_BINARY_DIR}/idem-config-version.cmake
  cmake/idem-libpqxx.cmake
  DESTINATION ${idem_package_dir})
