#include "postgres/test_database.hpp"

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "postgres/schema_pool.hpp"

namespace idem::postgres_test {
namespace {

postgres::BackendOptions in_schema(postgres::BackendOptions options, const std::string& schema) {
  options.names.schema = schema;
  return options;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  if (value == nullptr) {
    throw std::runtime_error{std::string{name} + " is not set: run under scripts/with-postgres --pooler"};
  }
  return value;
}

}  // namespace

std::string url_of_server() {
  return environment("IDEM_TEST_DATABASE_URL");
}

TestDatabase::TestDatabase(postgres::BackendOptions options, const TransactionKind& kind)
    : url_{url_of_server()},
      kind_{kind},
      schema_{SchemaPool::of_this_process().take(options.names)},
      backend_{in_schema(options, schema_)} {}

TestDatabase::~TestDatabase() {
  own_.close_all();
  borrowed_.close_all();
  SchemaPool::of_this_process().give_back(schema_);
}

std::string TestDatabase::url() const {
  return url_ + "&options=-csearch_path%3D%22" + schema_ + "%22&application_name=" + session_name(schema_);
}

std::unique_ptr<pqxx::connection> TestDatabase::connect() const {
  auto connection = std::make_unique<pqxx::connection>(url_);
  pqxx::nontransaction session{*connection};
  session.exec("SET search_path = \"" + schema_ +
               "\"; SET application_name = " + session.quote(session_name(schema_)) +
               "; SET default_transaction_isolation = '" + std::string{kind_.isolation} + "'");
  return connection;
}

std::unique_ptr<pqxx::connection> TestDatabase::borrow() const {
  return borrowed_.take([this] {
    if (!kind_.through_pooler) return connect();
    return std::make_unique<pqxx::connection>(environment("IDEM_TEST_POOLER_URL") +
                                              "&application_name=" + session_name());
  });
}

void TestDatabase::give_back(std::unique_ptr<pqxx::connection> connection) const {
  borrowed_.give_back(std::move(connection));
}

void TestDatabase::execute(const std::string& sql) const {
  auto connection = own_.take([this] { return connect(); });
  {
    pqxx::work tx{*connection};
    tx.exec(sql);
    tx.commit();
  }
  own_.give_back(std::move(connection));
}

long long TestDatabase::number(const std::string& sql) const {
  auto connection = own_.take([this] { return connect(); });
  long long number = 0;
  {
    pqxx::work tx{*connection};
    const pqxx::result rows = tx.exec(sql);
    number = rows[0][0].as<long long>();
  }
  own_.give_back(std::move(connection));
  return number;
}

void TestDatabase::advance(std::chrono::milliseconds duration) const {
  const std::string by = std::to_string(duration.count()) + " * interval '1 millisecond'";
  execute("UPDATE idem_record SET lease_until = lease_until - " + by + ", window_until = window_until - " +
          by + ", sent_at = sent_at - " + by + ", created_at = created_at - " + by +
          ", finished_at = finished_at - " + by + ", expires_at = expires_at - " + by +
          "; UPDATE idem_inbox SET received_at = received_at - " + by + ", keep_until = keep_until - " + by);
}

void wait_until(const TestDatabase& database, const std::string& sql) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (std::chrono::steady_clock::now() < deadline) {
    if (database.number("SELECT (" + sql + ")::int") != 0) return;
  }
  throw std::runtime_error{"the condition did not come true within a minute: " + sql};
}

}  // namespace idem::postgres_test
