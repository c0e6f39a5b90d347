// idem in one file: however often a command is asked for, it takes effect once. In memory, without a server.
#include <iostream>
#include <string>
#include <variant>

#include "idem/idem.hpp"
#include "idem/memory.hpp"

namespace {

struct Told {
  std::string operator()(const idem::Executed& done) const { return "executed: " + text(done.response); }
  std::string operator()(const idem::Replay& again) const { return "replayed: " + text(again.response); }
  std::string operator()(const idem::InProgress&) const { return "in progress: come back with the same key"; }
  std::string operator()(const idem::Mismatch&) const {
    return "mismatch: this key was used for another request";
  }
  std::string operator()(const idem::Unknown&) const { return "unknown: somebody has to look"; }
  static std::string text(const idem::Response& response) { return std::string{idem::body_text(response)}; }
};

}  // namespace

int main() {
  idem::memory::Database db;  // in production: idem::postgres::Backend, and pqxx::work for the transactions
  idem::memory::Table<std::size_t, std::string> charges{db};
  const idem::Fingerprinter fingerprint;

  // The business: one row, and the answer that every retry gets, byte for byte.
  const auto charge = [&](idem::memory::Transaction& tx, const idem::Lease& lease) {
    const std::size_t number = charges.size(tx) + 1;
    charges.put(tx, number, lease.key.principal);
    return idem::completed(idem::text_response(201, "charge " + std::to_string(number)));
  };
  const auto ask = [&](idem::memory::Transaction& tx, const std::string& key, const std::string& body) {
    const idem::Request request{{"ann", "POST /payments", key},
                                fingerprint({.method = "POST", .operation = "/payments", .body = body})};
    const idem::Outcome outcome = idem::execute(db, tx, request, charge);
    std::cout << key << "  " << body << "\n    " << std::visit(Told{}, outcome) << '\n';
  };
  const auto pay = [&](const std::string& key, const std::string& body) {
    auto tx = db.begin();
    ask(tx, key, body);
    tx.commit();  // the charge and the answer, or neither
  };

  {
    auto first = db.begin();
    ask(first, "tap-1", R"({"amount_cents":1290})");
    pay("tap-1", R"({"amount_cents":1290})");  // a double click, while the first is open
    first.commit();
  }
  pay("tap-1", R"({ "amount_cents": 1290.0 })");  // a retry: another spelling, the same request
  pay("tap-1", R"({"amount_cents":9900})");       // the client's bug
  pay("tap-2", R"({"amount_cents":1290})");       // a new intent
  {
    auto crashes = db.begin();
    ask(crashes, "tap-3", R"({"amount_cents":1290})");
    std::cout << "    ... and a crash before the commit: nothing is left of it\n";
  }
  pay("tap-3", R"({"amount_cents":1290})");

  auto look = db.begin();
  std::cout << "charges made: " << charges.size(look) << '\n';
}
