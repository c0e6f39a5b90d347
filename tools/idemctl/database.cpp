#include "database.hpp"

#include <exception>
#include <memory>
#include <string_view>

#include "failure.hpp"
#include "idem/base/error.hpp"

namespace idemctl {
namespace {

std::string first_line(std::string_view message) {
  return std::string{message.substr(0, message.find('\n'))};
}

// libpq quotes what it took from the URL: a host, a user, and where a password holds an unescaped '@' or ':'
// a part of that. Its own words, the address and the port are kept.
std::string without_quoted(std::string_view message) {
  std::string text;
  bool quoted = false;
  for (const char c : message) {
    if (c == '"') {
      text += quoted ? "...\"" : "\"";
      quoted = !quoted;
    } else if (!quoted) {
      text += c;
    }
  }
  return text;
}

std::unique_ptr<pqxx::connection> connect(const std::string& url) {
  // A quotation mark in it would make the message's own ones ambiguous.
  const bool tellable = url.find('"') == std::string::npos && url.find("%22") == std::string::npos;
  // Anything else than a URI would be read as "name=value" words, or as a database's name.
  if (!url.starts_with("postgresql://") && !url.starts_with("postgres://")) {
    throw Failure{"--database-url must begin with postgresql:// or postgres://"};
  }
  try {
    return std::make_unique<pqxx::connection>(url);
  } catch (const std::exception& failure) {
    throw Failure{"cannot connect to the database" +
                  (tellable ? ": " + without_quoted(first_line(failure.what())) : std::string{})};
  }
}

}  // namespace

idem::postgres::Names names_in(const Arguments& arguments) {
  idem::postgres::Names names;
  names.schema = arguments.one("schema").value_or(names.schema);
  names.record = arguments.one("record-table").value_or(names.record);
  names.inbox = arguments.one("inbox-table").value_or(names.inbox);
  names.version_guard = arguments.one("version-guard-table").value_or(names.version_guard);
  names.outbox = arguments.one("outbox-table").value_or(names.outbox);
  names.schema_version = arguments.one("version-table").value_or(names.schema_version);
  names.repair = arguments.one("repair-table").value_or(names.repair);
  names.downstream_key = arguments.one("downstream-key-function").value_or(names.downstream_key);
  names.key_hash = arguments.one("key-hash-function").value_or(names.key_hash);
  return names;
}

void with_connection(const std::string& url, const std::function<void(pqxx::connection&)>& work) {
  const auto connection = connect(url);
  try {
    work(*connection);
  } catch (const idem::Error&) {
    throw;
  } catch (const Failure&) {
    throw;
  } catch (const NotFound&) {
    throw;
  } catch (const std::exception& failure) {
    // The further lines may repeat the statement.
    throw Failure{"the database failed: " + first_line(failure.what())};
  }
}

}  // namespace idemctl
