# idem_embed_sql(target file...): gives `target` a header <idem_embedded_sql.hpp> with these .sql files, in this order.
function(idem_embed_sql target)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/embedded/idem_embedded_sql.hpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed-sql.cmake)
  list(JOIN ARGN "|" files)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} "-DHEADER=${header}" "-DFILES=${files}" -P ${script}
    DEPENDS ${ARGN} ${script}
    COMMENT "Embedding the SQL files"
    VERBATIM)
  add_custom_target(idem_sql DEPENDS ${header})
  target_sources(${target} PRIVATE ${header})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded)
endfunction()
