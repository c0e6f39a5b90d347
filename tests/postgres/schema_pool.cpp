#include "postgres/schema_pool.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "idem/base/uuid.hpp"
#include "idem/postgres/schema.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

// What may wait for a lock gives up soon: it is a test's session that holds it, and another schema can be had.
constexpr const char* begin = "SET LOCAL lock_timeout = '1s'; SET LOCAL client_min_messages = warning";

std::string namespace_of(pqxx::transaction_base& tx, const postgres::Names& names) {
  return "(SELECT oid FROM pg_namespace WHERE nspname = " + tx.quote(names.schema) + ")";
}

// Whether a session may work in it: it says so; or it began since and says nothing; or it has a
// lock there. A committed transaction's predicate locks count too, which a later one would run into at SERIALIZABLE.
std::string is_busy(pqxx::transaction_base& tx, const postgres::Names& names, const std::string& lent_at) {
  return "EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
         "pg_backend_pid() "
         "AND backend_type = 'client backend' AND (application_name IN (" +
         tx.quote(session_name(names.schema)) + ", " + tx.quote(names.schema) +
         ") OR (application_name !~ '^(idem_)?test' AND backend_start >= " + tx.quote(lent_at) +
         "::timestamptz))) OR EXISTS (SELECT FROM pg_locks WHERE pid IS DISTINCT FROM pg_backend_pid() AND "
         "database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relation IN "
         "(SELECT oid FROM pg_class WHERE relnamespace = " +
         namespace_of(tx, names) + "))";
}

// All that depends on the schema, but for what is a part of something else in it.
std::string objects_of(pqxx::transaction_base& tx, const postgres::Names& names) {
  return "pg_depend WHERE refclassid = 'pg_namespace'::regclass AND refobjid = " + namespace_of(tx, names);
}

// The statements that drop what `objects` does not name; null where there is nothing.
std::string drop_the_others(pqxx::transaction_base& tx, const postgres::Names& names,
                            const std::string& objects) {
  return "(SELECT string_agg(CASE WHEN classid = 'pg_proc'::regclass THEN 'DROP ROUTINE IF EXISTS ' || "
         "objid::regprocedure ELSE (SELECT format('DROP %s IF EXISTS %s', CASE relkind WHEN 'v' THEN 'VIEW' "
         "WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass) FROM "
         "pg_class WHERE oid = objid AND relkind IN ('r', 'p', 'v', 'm', 'S')) END || ' CASCADE', '; ') "
         "FROM " +
         objects_of(tx, names) +
         " AND classid IN ('pg_class'::regclass, 'pg_proc'::regclass) AND NOT "
         "classid::oid || ':' || objid = ANY (" +
         tx.quote(objects) + "))";
}

// One text that is another one when something in the schema is defined differently. Where the system's table has a row for
// what nobody redefines by using it, the transaction that wrote the row says enough.
std::string catalogue_of(pqxx::transaction_base& tx, const postgres::Names& names) {
  const std::string schema = namespace_of(tx, names);
  const std::string relations = "(SELECT oid FROM pg_class WHERE relnamespace = " + schema + ")";
  return "SELECT concat_ws('|', (SELECT concat_ws(',', oid, nspowner, nspacl) FROM pg_namespace WHERE oid "
         "= " +
         schema +
         "), (SELECT string_agg(concat_ws(',', oid, relname, relkind, relowner, relacl, reloptions, "
         "relpersistence, relrowsecurity, relforcerowsecurity, relreplident, reltablespace, relnatts, "
         "relchecks), ';' ORDER BY oid) FROM pg_class WHERE relnamespace = " +
         schema +
         "), (SELECT string_agg(concat_ws(',', attrelid, attnum, xmin), ';' ORDER BY attrelid, attnum) FROM "
         "pg_attribute WHERE attnum > 0 AND attrelid IN " +
         relations +
         "), (SELECT string_agg(concat_ws(',', oid, xmin), ';' ORDER BY oid) FROM pg_attrdef WHERE "
         "adrelid IN " +
         relations +
         "), (SELECT string_agg(concat_ws(',', oid, xmin), ';' ORDER BY oid) FROM pg_constraint WHERE "
         "connamespace = " +
         schema +
         "), (SELECT string_agg(concat_ws(',', indexrelid, xmin), ';' ORDER BY indexrelid) FROM pg_index "
         "WHERE "
         "indrelid IN " +
         relations +
         "), (SELECT string_agg(concat_ws(',', oid, xmin), ';' ORDER BY oid) FROM pg_proc WHERE pronamespace "
         "= " +
         schema +
         "), (SELECT string_agg(concat_ws(',', oid, xmin), ';' ORDER BY oid) FROM pg_trigger WHERE tgrelid "
         "IN " +
         relations +
         "), (SELECT string_agg(concat_ws(',', oid, xmin), ';' ORDER BY oid) FROM pg_rewrite WHERE ev_class "
         "IN " +
         relations +
         "), (SELECT string_agg(concat_ws(',', oid, xmin), ';' ORDER BY oid) FROM pg_policy WHERE polrelid "
         "IN " +
         relations +
         "), (SELECT string_agg(concat_ws(',', seqrelid, xmin), ';' ORDER BY seqrelid) FROM pg_sequence "
         "WHERE "
         "seqrelid IN " +
         relations +
         "), (SELECT string_agg(concat_ws(',', oid, typowner, typacl), ';' ORDER BY oid) FROM pg_type WHERE "
         "typnamespace = " +
         schema +
         "), (SELECT string_agg(concat_ws(',', oid, reloptions), ';' ORDER BY oid) FROM pg_class WHERE oid "
         "IN "
         "(SELECT reltoastrelid FROM pg_class WHERE relnamespace = " +
         schema +
         ")), (SELECT string_agg(concat_ws(',', objoid, objsubid, description), ';' ORDER BY objoid, "
         "objsubid) "
         "FROM pg_description WHERE objoid IN " +
         relations +
         "), (SELECT string_agg(inhrelid::text, ',' ORDER BY inhrelid) FROM pg_inherits WHERE inhparent IN " +
         relations +
         "), (SELECT string_agg(oid::text, ',' ORDER BY oid) FROM pg_publication_rel WHERE prrelid IN " +
         relations +
         "), (SELECT string_agg(concat_ws(',', classid, objid), ';' ORDER BY classid, objid) FROM " +
         objects_of(tx, names) +
         // What a test has made beside it, under a longer name.
         "), (SELECT count(*) FROM pg_namespace WHERE starts_with(nspname, " + tx.quote(names.schema + "_") +
         ")))";
}

std::string qualified(pqxx::transaction_base& tx, const postgres::Names& names, const std::string& name) {
  return tx.quote_name(names.schema) + "." + tx.quote_name(name);
}

std::string versions_of(pqxx::transaction_base& tx, const postgres::Names& names) {
  const pqxx::result rows = tx.exec("SELECT string_agg(version::text, ',' ORDER BY version) FROM " +
                                    qualified(tx, names, names.schema_version) + " AS version");
  return rows[0][0].is_null() ? "" : rows[0][0].as<std::string>();
}

std::string one(pqxx::transaction_base& tx, const std::string& sql) {
  const pqxx::result rows = tx.exec(sql);
  return rows[0][0].is_null() ? "" : rows[0][0].as<std::string>();
}

class EndOfTheTests : public testing::Environment {
 public:
  void TearDown() override { SchemaPool::of_this_process().drop_all(); }
};

// GoogleTest owns it, and has to know it before the tests begin.
[[maybe_unused]] const testing::Environment* const end_of_the_tests =
    testing::AddGlobalTestEnvironment(new EndOfTheTests);

}  // namespace

std::string session_name() {
  return "idem_test";
}

std::string session_name(const std::string& schema) {
  return "idem_" + schema;
}

SchemaPool& SchemaPool::of_this_process() {
  // Never destroyed: at exit() libpqxx has destroyed what its connections use before.
  static SchemaPool& pool = *new SchemaPool;
  return pool;
}

SchemaPool::~SchemaPool() {
  drop_all();
}

void SchemaPool::drop_all() {
  const std::scoped_lock lock{mutex_};
  if (owner_ != ::getpid()) return;
  for (const Schema& each : schemas_) {
    try {
      drop(each.names.schema);
    } catch (const std::exception&) {
      // Its user is being killed, or the server is gone: it goes with the server's folder.
    }
  }
  schemas_.clear();
  connection_.reset();
}

pqxx::connection& SchemaPool::connection() {
  if (!connection_ || !connection_->is_open()) {
    connection_ = std::make_unique<pqxx::connection>(url_of_server());
    pqxx::nontransaction{*connection_}.exec("SET application_name = '" + session_name() + "'");
    owner_ = ::getpid();
  }
  return *connection_;
}

std::string SchemaPool::take(postgres::Names names) {
  const std::scoped_lock lock{mutex_};
  for (std::size_t at = 0; at < schemas_.size();) {
    Schema& schema = schemas_[at];
    names.schema = schema.names.schema;
    const State state = schema.lent || schema.names != names ? State::busy : try_to_empty(schema);
    if (state == State::clean) {
      schema.lent = true;
      return schema.names.schema;
    }
    if (state == State::altered) {
      drop(schema.names.schema);
      schemas_.erase(schemas_.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      ++at;
    }
  }
  names.schema = "test_" + random_uuid_v4().to_string();
  install(names);
  return names.schema;
}

void SchemaPool::give_back(const std::string& schema) {
  const std::scoped_lock lock{mutex_};
  const auto at = std::find_if(schemas_.begin(), schemas_.end(),
                               [&](const Schema& each) { return each.names.schema == schema; });
  if (at == schemas_.end()) return;
  at->lent = false;
  std::rotate(at, at + 1, schemas_.end());
}

void SchemaPool::install(const postgres::Names& names) {
  Schema schema{.names = names};
  pqxx::work tx{connection()};
  postgres::install_schema(tx, names);
  schema.lent_at = one(tx, "SELECT clock_timestamp()");
  schema.objects = one(tx, "SELECT array_agg(classid::oid || ':' || objid) FROM " + objects_of(tx, names));
  schema.catalogue = one(tx, catalogue_of(tx, names)) + versions_of(tx, names);
  tx.commit();
  schemas_.push_back(std::move(schema));
}

SchemaPool::State SchemaPool::try_to_empty(Schema& schema) {
  const postgres::Names& names = schema.names;
  try {
    pqxx::work tx{connection()};
    tx.exec(begin);
    const pqxx::result now = tx.exec("SELECT " + is_busy(tx, names, schema.lent_at) +
                                     ", clock_timestamp(), " + drop_the_others(tx, names, schema.objects));
    if (now[0][0].as<bool>()) return State::busy;
    if (!now[0][2].is_null()) tx.exec(now[0][2].as<std::string>());
    const std::string catalogue = one(tx, catalogue_of(tx, names));
    // Before anything is asked of tables that may have other names by now.
    if (!schema.catalogue.starts_with(catalogue)) return State::altered;
    if (catalogue + versions_of(tx, names) != schema.catalogue) return State::altered;
    // What was never written has no file to be made anew, unless an identity was taken from it all the same.
    std::string written;
    for (const std::string& table :
         {names.record, names.inbox, names.version_guard, names.outbox, names.repair}) {
      const std::string name = qualified(tx, names, table);
      written +=
          (written.empty() ? "SELECT concat_ws(', '" : "") +
          (", CASE WHEN pg_relation_size(" + tx.quote(name) +
           ") > 0 OR EXISTS (SELECT FROM pg_depend JOIN pg_class AS " +
           "identity ON identity.oid = objid WHERE classid = 'pg_class'::regclass AND refclassid = classid "
           "AND "
           "refobjid = " +
           tx.quote(name) +
           "::regclass AND CASE relkind WHEN 'S' THEN pg_sequence_last_value(objid) END IS NOT NULL) THEN ") +
          tx.quote(name) + " END";
    }
    const std::string tables = one(tx, written + ")");
    if (!tables.empty()) tx.exec("TRUNCATE " + tables + " RESTART IDENTITY");
    tx.commit();
    schema.lent_at = now[0][1].as<std::string>();
    return State::clean;
  } catch (const pqxx::broken_connection&) {
    connection_.reset();
    return State::busy;
  } catch (const pqxx::sql_error&) {
    return State::busy;  // somebody has a lock after all
  }
}

void SchemaPool::drop(const std::string& name) {
  try {
    pqxx::work tx{connection()};
    tx.exec(begin);
    tx.exec("DROP SCHEMA IF EXISTS " + tx.quote_name(name) + " CASCADE");
    tx.commit();
  } catch (const pqxx::broken_connection&) {
    connection_.reset();
    throw;
  }
}

}  // namespace idem::postgres_test
