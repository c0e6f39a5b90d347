// A connection that is replaced when it is lost.
#pragma once

#include <memory>
#include <pqxx/pqxx>
#include <string>

namespace examples {

/// Connects. Throws pqxx::broken_connection where that fails, with nothing of the URL in its message.
[[nodiscard]] std::unique_ptr<pqxx::connection> connect(const std::string& database_url);

/// Was it lost, or has the server ended it while nobody used it? For one with no transaction open.
[[nodiscard]] bool lost(const pqxx::connection& idle);

/// One connection, for one thread at a time.
class Session {
 public:
  /// Connects. Throws what connect() throws.
  explicit Session(std::string database_url);

  /// Begins a transaction, on a new connection where the last one was lost. The one before must have ended.
  [[nodiscard]] std::unique_ptr<pqxx::work> begin();

 private:
  std::string database_url_;
  std::unique_ptr<pqxx::connection> connection_;
};

}  // namespace examples
