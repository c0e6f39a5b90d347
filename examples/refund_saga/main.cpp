// refund_saga run --database-url URL --services URL --refund ID [--payment ID] [--amount-cents N] [--lease-ms N]
//                 [--deadline-ms N]
// refund_saga sweep --database-url URL --services URL [--lease-ms N] [--deadline-ms N]
//
// Exit status: 0 where each refund's state was told, whatever it is; 1 where that failed for one, 2 for bad usage.
#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http_services.hpp"
#include "idem/postgres.hpp"
#include "refund_table.hpp"
#include "run.hpp"
#include "saga.hpp"
#include "session.hpp"

namespace {

constexpr std::string_view usage =
    "refund_saga: usage: refund_saga run --database-url URL --services URL --refund ID [--payment ID] "
    "[--amount-cents N] [--lease-ms N] [--deadline-ms N]\n"
    "                    refund_saga sweep --database-url URL --services URL [--lease-ms N] [--deadline-ms "
    "N]\n";

struct Arguments {
  bool sweep = false;
  std::string database_url;
  std::string services;
  refund_saga::Refund refund;
  idem::CallOptions calls;
};

std::optional<std::int64_t> positive(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{} || stopped != end || number < 1) return std::nullopt;
  return number;
}

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  if (words.size() < 2 || (words[1] != "run" && words[1] != "sweep")) return std::nullopt;
  Arguments arguments;
  arguments.sweep = words[1] == "sweep";
  std::set<std::string> known{"--database-url", "--services", "--lease-ms", "--deadline-ms"};
  if (!arguments.sweep) known.insert({"--refund", "--payment", "--amount-cents"});
  std::map<std::string, std::string> given;
  for (std::size_t i = 2; i < words.size(); i += 2) {
    if (!known.contains(words[i]) || i + 1 == words.size() || words[i + 1].empty()) return std::nullopt;
    if (!given.emplace(words[i], words[i + 1]).second) return std::nullopt;
  }
  const auto number = [&](const char* option, std::int64_t otherwise) {
    return given.contains(option) ? positive(given[option]) : otherwise;
  };
  const auto amount = number("--amount-cents", 1290);
  const auto lease = number("--lease-ms", 30'000);
  const auto deadline = number("--deadline-ms", 0);  // a third of the lease
  if (!given.contains("--database-url") || !given.contains("--services") || !amount || !lease || !deadline)
    return std::nullopt;
  if (!arguments.sweep && !given.contains("--refund")) return std::nullopt;
  arguments.database_url = given["--database-url"];
  arguments.services = given["--services"];
  // One refund of a payment, where nothing else is said: then one id can name both.
  const std::string id = given["--refund"];
  arguments.refund = {id, given.contains("--payment") ? given["--payment"] : id, *amount};
  arguments.calls.reserve.lease = std::chrono::milliseconds{*lease};
  arguments.calls.reserve.call_deadline = std::chrono::milliseconds{*deadline};
  return arguments;
}

int run(const Arguments& arguments) {
  const refund_saga::HttpServices services{arguments.services};
  examples::Session session{arguments.database_url};
  {
    const auto tx = session.begin();
    refund_saga::install_tables(*tx);
    tx->commit();
  }
  const idem::postgres::Backend backend;
  refund_saga::Saga saga{backend, session, services, arguments.calls};
  if (arguments.sweep) return refund_saga::sweep(saga, session, std::cout, std::cerr) ? 0 : 1;
  refund_saga::run(saga, arguments.refund, std::cout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char* const> words{argv, static_cast<std::size_t>(argc)};
  const auto arguments = parse({words.begin(), words.end()});
  if (!arguments) {
    std::cerr << usage;
    return 2;
  }
  try {
    return run(*arguments);
  } catch (const std::exception& failure) {
    refund_saga::fail(arguments->refund.id, failure, std::cerr);
    return 1;
  }
}
