// payments run --database-url URL --requests FILE.jsonl [--acquirer URL [CALL]]
// payments sweep --database-url URL --acquirer URL [CALL]
// payments repair --database-url URL
// payments serve --listen HOST:PORT --database-url URL --acquirer URL [--status-mismatch N] [--no-page] [CALL]
// payments client --url URL --principal NAME --intent FILE [--amount-cents N --currency C --offering O --token T]
//
// payments [VERB] --help
//
// CALL: --lease-ms N, --deadline-ms N, --no-deduplication
//
// Exit status:
// 0  every line was answered (invalid ones too), every charge swept, every repair applied; a server was told to end; the client's
//    payment is decided
// 1  the database or the output failed, a charge could not be swept or repaired, a server cannot listen, or the client does not
//    know yet
// 2  bad usage, or a file that cannot be read: one line on stderr
// 3  the client's payment was refused
#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acquirer_at.hpp"
#include "charge_operation.hpp"
#include "client.hpp"
#include "command_line.hpp"
#include "first_line.hpp"
#include "idem/idem.hpp"
#include "repair.hpp"
#include "run.hpp"
#include "serve.hpp"
#include "sweep.hpp"

namespace {

using payments::BadUsage;
using payments::CommandLine;

// What `read` says of options that do not go together is bad usage.
template <class Read>
auto as_usage(const Read& read) {
  try {
    return read();
  } catch (const std::invalid_argument& refused) {
    throw BadUsage{refused.what()};
  } catch (const idem::InvalidArgument& refused) {
    throw BadUsage{refused.what()};
  }
}

// Whom payments are charged through, by --acquirer and CALL; the last options of a verb.
payments::Charging charging(CommandLine& line, const std::string& acquirer) {
  payments::Charging charging;
  charging.deduplicates = !line.take("--no-deduplication");
  charging.lease = line.milliseconds("--lease-ms").value_or(charging.lease);
  charging.deadline = line.milliseconds("--deadline-ms").value_or(charging.deadline);
  line.end();
  return as_usage([&] {
    charging.ask = payments::acquirer_at(acquirer);
    payments::validate(charging);
    return charging;
  });
}

int run(CommandLine& line) {
  const std::string database_url = line.need("--database-url");
  const std::string path = line.need("--requests");
  std::optional<payments::Charging> through;
  if (const auto acquirer = line.take("--acquirer")) through = charging(line, *acquirer);
  line.end();

  const auto unreadable = [&path] { return BadUsage{"cannot read " + path}; };
  std::ifstream requests{path, std::ios::binary};
  // A folder opens, and fails at the first byte.
  requests.peek();
  if (!requests.is_open() || requests.bad()) throw unreadable();
  requests.clear();
  try {
    payments::run(database_url, requests, std::cout, through ? &*through : nullptr);
    return 0;
  } catch (const std::ios_base::failure&) {
    throw unreadable();
  }
}

int sweep(CommandLine& line) {
  const std::string database_url = line.need("--database-url");
  const payments::Charging through = charging(line, line.need("--acquirer"));
  return payments::sweep(database_url, through, std::cout, std::cerr) ? 0 : 1;
}

int repair(CommandLine& line) {
  const std::string database_url = line.need("--database-url");
  line.end();
  return payments::repair(database_url, std::cout, std::cerr) ? 0 : 1;
}

int serve(CommandLine& line) {
  payments::ServeOptions options{.listen = line.need("--listen"),
                                 .database_url = line.need("--database-url")};
  if (const auto status = line.number("--status-mismatch")) {
    // The boundary refuses what is no status.
    options.mismatch_status = *status < 1000 ? static_cast<int>(*status) : 0;
  }
  options.page = !line.take("--no-page");
  options.acquirer_url = line.need("--acquirer");
  options.charging = charging(line, options.acquirer_url);
  as_usage([&] { payments::validate(options); });
  payments::serve(options);
  return 0;
}

// All of it or nothing.
std::optional<payments::PaymentBody> payment(CommandLine& line) {
  const auto amount = line.number("--amount-cents");
  if (!amount) return std::nullopt;
  payments::Order order{*amount, line.need("--currency"), line.need("--offering")};
  return payments::PaymentBody{std::move(order), line.need("--token")};
}

int client(CommandLine& line) {
  payments::ClientOptions options{.url = line.need("--url"),
                                  .principal = line.need("--principal"),
                                  .intent = line.need("--intent"),
                                  .payment = payment(line)};
  line.end();
  return as_usage([&] { return payments::client(options, std::cout, std::cerr); });
}

int carry_out(const std::vector<std::string>& words) {
  if (words.size() < 2) throw BadUsage{};
  const std::string& verb = words[1];
  if (verb == "--help" || (words.size() == 3 && words[2] == "--help")) {
    std::cout << payments::usage();
    return 0;
  }
  CommandLine line{std::span{words}.subspan(2)};
  if (verb == "run") return run(line);
  if (verb == "sweep") return sweep(line);
  if (verb == "repair") return repair(line);
  if (verb == "serve") return serve(line);
  if (verb == "client") return client(line);
  throw BadUsage{};
}

int fail(int status, std::string_view message) {
  std::cerr << "payments: " << message << '\n';
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::span<char* const> words{argv, static_cast<std::size_t>(argc)};
    return carry_out({words.begin(), words.end()});
  } catch (const BadUsage& bad) {
    return fail(2, payments::first_line(bad));
  } catch (const std::exception& failure) {
    return fail(1, payments::first_line(failure));
  }
}
