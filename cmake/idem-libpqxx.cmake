# The target idem::libpqxx, whichever way libpqxx is there. Used by the build and by the installed package alike.
if(NOT TARGET idem::libpqxx)
  if(NOT TARGET libpqxx::pqxx)
    find_package(libpqxx CONFIG QUIET)  # vcpkg, Conan, Homebrew, builds from source
  endif()
  # Imported, so its headers are system headers: those of 7.10.0 and 8.0.2 warn under -Wextra.
  add_library(idem::libpqxx INTERFACE IMPORTED GLOBAL)
  if(TARGET libpqxx::pqxx)
    target_link_libraries(idem::libpqxx INTERFACE libpqxx::pqxx)
    target_include_directories(idem::libpqxx SYSTEM INTERFACE
      $<TARGET_PROPERTY:libpqxx::pqxx,INTERFACE_INCLUDE_DIRECTORIES>)
  else()  # Debian and Ubuntu ship a .pc file only
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(IDEM_LIBPQXX REQUIRED IMPORTED_TARGET libpqxx>=6.4)
    target_link_libraries(idem::libpqxx INTERFACE PkgConfig::IDEM_LIBPQXX)
  endif()
endif()
