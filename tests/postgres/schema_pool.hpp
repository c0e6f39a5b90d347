// Schemas with idem installed in them, used by one test after the other: emptying one takes a tenth of making and dropping it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "idem/postgres/names.hpp"

namespace idem::postgres_test {

/// What a session calls itself (application_name) that works in `schema`, so that the pool sees when it is gone. The schema's
/// own name says the same.
[[nodiscard]] std::string session_name(const std::string& schema);
/// The same of a session that works in several schemas in turn and leaves nothing open in any, as a pooler's do.
[[nodiscard]] std::string session_name();

/// A schema is as newly installed whenever it is lent. Before that
///
/// - nobody else may work in it: a session that a test has closed, or whose process was killed, ends on the server some time
///   later, and may hold locks until then. As long as there may be one, another schema is lent, or a new one made. (A session
///   that says nothing of itself may work in every schema that was lent when it began.)
/// - what the test has added to it is dropped;
/// - its catalogue must be as it was after the installation: if a test has altered, renamed, granted or dropped something of
///   idem's, or migrated by hand, the schema is dropped instead. No test has to say so;
/// - idem's tables are emptied, and their identities begin anew.
///
/// What is not in the schema stays: a role, a setting of the database or of a session of the pooler, an advisory lock, a
/// temporary table, an extension. The test that makes one takes it away again.
///
/// All are dropped by drop_all(), which the process's pool does when its last test has ended. Safe between threads.
class SchemaPool {
 public:
  static SchemaPool& of_this_process();

  SchemaPool() = default;
  SchemaPool(const SchemaPool&) = delete;
  SchemaPool& operator=(const SchemaPool&) = delete;
  ~SchemaPool();

  /// One that is installed under these names, of which `schema` is not looked at.
  [[nodiscard]] std::string take(postgres::Names names);
  void give_back(const std::string& schema);

  /// Drops every schema. A child of the process whose pool it is drops nothing: the connection is its parent's too.
  void drop_all();

 private:
  struct Schema {
    postgres::Names names;
    bool lent = true;
    // Since when sessions may have begun to work in it, by the server's clock.
    std::string lent_at{};
    // Each object that is in it, as an array of "class:object".
    std::string objects{};
    std::string catalogue{};
  };
  enum class State { clean, busy, altered };

  [[nodiscard]] pqxx::connection& connection();
  [[nodiscard]] State try_to_empty(Schema& schema);
  void install(const postgres::Names& names);
  void drop(const std::string& name);

  pid_t owner_ = 0;
  std::unique_ptr<pqxx::connection> connection_;
  std::mutex mutex_;
  std::vector<Schema> schemas_;  // the one that was given back last is the last
};

}  // namespace idem::postgres_test
