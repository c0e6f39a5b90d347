#include "run.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "answer.hpp"
#include "database.hpp"
#include "idem/postgres.hpp"
#include "outbox_delivery.hpp"
#include "payment_service.hpp"
#include "postgres_repository.hpp"
#include "redelivery.hpp"
#include "request_line.hpp"

namespace payments {
namespace {

// Reads up to the next line feed. Of a line longer than `max_bytes` one byte more is kept, so that the reader
// refuses it; the rest takes no memory.
bool next_line(std::istream& requests, std::size_t max_bytes, std::string& line) {
  using Traits = std::istream::traits_type;
  line.clear();
  for (bool any = false;; any = true) {
    const auto byte = requests.rdbuf()->sbumpc();
    if (Traits::eq_int_type(byte, Traits::eof())) return any;
    if (Traits::to_char_type(byte) == '\n') return true;
    if (line.size() <= max_bytes) line += Traits::to_char_type(byte);
  }
}

void write(std::ostream& answers, std::string_view json) {
  // Each answer goes out at once, as it would to a client.
  answers << json << '\n' << std::flush;
  if (!answers) throw std::runtime_error{"the answers cannot be written"};
}

}  // namespace

void run(const std::string& database_url, std::istream& requests, std::ostream& answers,
         const Charging* charging) {
  examples::Session session = open_database(database_url);
  const auto begin = [&session] { return session.begin(); };
  const idem::postgres::Backend backend;
  PostgresRepository repository;
  const PaymentService service{backend, repository};
  const RequestLineReader reader;

  const auto respond = [&](std::string_view line) {
    try {
      const PaymentRequest request = reader.read(line);
      Answer answer = answer_to(charging != nullptr ? service.charge(begin, request, *charging)
                                                    : service.pay(begin, request));
      if (charging != nullptr) {
        // Of a replayed payment too: the process that made it may have died before it came to this.
        if (const auto event = event_of(request, answer)) deliver_event(session, *event);
      }
      if (const auto event = event_to_redeliver(request, answer)) {
        // A transaction of its own, as every message of a broker has.
        const auto tx = begin();
        answer.redelivery = service.deliver(*tx, *event);
        tx->commit();
      }
      return answer;
    } catch (const BadRequest& refused) {
      return refusal(refused.what());
    }
  };
  std::string line;
  for (std::size_t number = 1; next_line(requests, reader.max_line_bytes(), line); ++number) {
    write(answers, to_json(number, respond(line)));
  }

  if (charging != nullptr) deliver_outbox(session);
  const Summary summary = read_summary(*begin());
  nlohmann::ordered_json counts{{"charges", summary.charges},
                                {"declines", summary.declines},
                                {"seats", summary.seats},
                                {"receipts", summary.receipts}};
  if (charging != nullptr) {
    counts["pending"] = summary.pending;
    counts["unknown"] = summary.unknown;
    counts["events"] = summary.events;
  }
  write(answers, nlohmann::ordered_json{{"summary", counts}}.dump());
}

}  // namespace payments
