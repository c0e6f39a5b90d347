// The code of README.md: what stands between two equal rulers, word for word.
#include <cstddef>
#include <iostream>
#include <span>
#include <string>

// ---- README ----------------------------------------------------------------------------------
#include <idem/idem.hpp>
#include <idem/postgres.hpp>
#include <pqxx/pqxx>

struct ToClient {  // one function for each outcome: with one forgotten, std::visit does not compile
  idem::Response operator()(const idem::Executed& executed) const { return executed.response; }
  idem::Response operator()(const idem::Replay& replay) const { return replay.response; }
  idem::Response operator()(const idem::InProgress&) const {
    return idem::text_response(409, "retry, same key");
  }
  idem::Response operator()(const idem::Mismatch&) const { return idem::text_response(422, "key reused"); }
  idem::Response operator()(const idem::Unknown&) const { return idem::text_response(503, "not known yet"); }
};

idem::Response withdraw(pqxx::connection& connection, const std::string& user, const std::string& key,
                        const std::string& body, int cents) {
  static const idem::postgres::Backend backend;
  static const idem::Fingerprinter fingerprint;
  const idem::Request request{{user, "POST /withdrawals", key},
                              fingerprint({.method = "POST", .operation = "/withdrawals", .body = body})};
  pqxx::work tx{connection};
  const idem::Outcome outcome = idem::execute(backend, tx, request, [&](pqxx::work& tx, const idem::Lease&) {
    const std::string amount = std::to_string(cents);
    const auto changed = tx.exec("UPDATE account SET cents = cents - " + amount +
                                 " WHERE cents >= " + amount + " AND owner = " + tx.quote(user));
    return changed.affected_rows() == 1 ? idem::completed(idem::text_response(201, amount + " withdrawn"))
                                        : idem::failed(idem::text_response(402, "not enough money"));
  });
  tx.commit();  // the money and the answer, or neither
  return std::visit(ToClient{}, outcome);
}
// ---- README ----------------------------------------------------------------------------------

// ---- README: transact ------------------------------------------------------------
#include <memory>

idem::Response deposit(const std::string& url, const std::string& user, const std::string& key,
                       const std::string& body, int cents) {
  static const idem::postgres::Backend backend;
  static const idem::Fingerprinter fingerprint;
  const idem::Request request{{user, "POST /deposits", key},
                              fingerprint({.method = "POST", .operation = "/deposits", .body = body})};
  std::unique_ptr<pqxx::connection> connection;
  const auto begin = [&] {  // called again for each try: after a lost connection it gives a new one
    if (!connection || !connection->is_open()) connection = std::make_unique<pqxx::connection>(url);
    return std::make_unique<pqxx::work>(*connection);
  };
  const auto add = [&](pqxx::work& tx, const idem::Lease&) {
    const std::string amount = std::to_string(cents);
    tx.exec("UPDATE account SET cents = cents + " + amount + " WHERE owner = " + tx.quote(user));
    return idem::completed(idem::text_response(201, amount + " deposited"));
  };
  return std::visit(ToClient{}, idem::transact(backend, begin, request, add));  // committed, if it ran
}
// ---- README: transact ------------------------------------------------------------

// ---- README: inbox ----------------------------------------------------------------
struct Interest {
  idem::EventIdentity identity;  // who made the event, its id, and when
  std::string owner;
  int cents = 0;
};

struct Ledger {
  static constexpr std::string_view name = "ledger";  // stored with each event that it has seen
  void apply(pqxx::work& tx, const Interest& event) {
    tx.exec("UPDATE account SET cents = cents + " + std::to_string(event.cents) +
            " WHERE owner = " + tx.quote(event.owner));
  }
};

idem::Delivery credit(pqxx::connection& connection, const Interest& event) {
  static const idem::postgres::Backend backend;
  Ledger ledger;
  idem::Inbox inbox{backend, ledger};
  pqxx::work tx{connection};
  const idem::Delivery delivery = inbox.deliver(tx, event);
  tx.commit();      // the money and the mark, or neither
  return delivery;  // applied, duplicate: acknowledge the message; beyond_horizon: nobody can say
}
// ---- README: inbox ----------------------------------------------------------------

// readme URL KEY…: withdraws 500 of 1200 cents under each key, then deposits 100 under the last one, twice, and credits
// an event of 7 cents twice.
int main(int argc, char** argv) {
  const std::span<char* const> words{argv, static_cast<std::size_t>(argc)};
  if (words.size() < 2) {
    std::cerr << "usage: readme URL KEY...\n";
    return 2;
  }
  pqxx::connection connection{words[1]};
  pqxx::work setup{connection};
  idem::postgres::install_schema(setup);
  setup.exec(
      std::string{"CREATE TABLE IF NOT EXISTS account (owner text PRIMARY KEY, cents bigint NOT NULL)"});
  setup.exec(std::string{"INSERT INTO account VALUES ('ann', 1200) ON CONFLICT DO NOTHING"});
  setup.commit();
  for (const std::string key : words.subspan(2)) {
    const idem::Response response = withdraw(connection, "ann", key, R"({"cents":500})", 500);
    std::cout << key << ": " << response.status << ' ' << idem::body_text(response) << '\n';
  }
  for (int i = 0; i < 2 && words.size() > 2; ++i) {
    const idem::Response response = deposit(words[1], "ann", words.back(), R"({"cents":100})", 100);
    std::cout << "deposit " << words.back() << ": " << response.status << ' ' << idem::body_text(response)
              << '\n';
  }
  const Interest interest{{"bank", "interest-2026", idem::SystemClock{}.now()}, "ann", 7};
  for (int i = 0; i < 2; ++i) std::cout << "interest: " << to_string(credit(connection, interest)) << '\n';
  pqxx::work check{connection};
  std::cout << "left: " << check.exec(std::string{"SELECT cents FROM account"})[0][0].as<int>() << '\n';
}
