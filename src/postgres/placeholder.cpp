#include <idem_embedded_sql.hpp>
#include <pqxx/pqxx>
namespace idem::inline v0::postgres {
int placeholder() { return static_cast<int>(embedded_sql[0].text.size()); }
}
