# Writes HEADER from FILES ("|"-separated). Run by idem_embed_sql.
string(REPLACE "|" ";" files "${FILES}")
set(entries "")
foreach(path IN LISTS files)
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" text)
  string(APPEND entries "    EmbeddedSql{\"${name}\", R\"idem_sql(${text})idem_sql\"},\n")
endforeach()
file(WRITE "${HEADER}" "\
// Made from sql/postgres/*.sql by cmake/embed-sql.cmake. Change those.
#pragma once

#include <string_view>

namespace idem {
inline namespace v0 {
namespace postgres {

struct EmbeddedSql {
  std::string_view file;
  std::string_view text;
};

inline constexpr EmbeddedSql embedded_sql[] = {
${entries}};

}  // namespace postgres
}  // namespace v0
}  // namespace idem
")
