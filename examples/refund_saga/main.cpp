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
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http_services.hpp"
#include "idem/postgres/backend.hpp"
#include "refund_table.hpp"
#include "saga.hpp"
#include "session.hpp"

namespace {

using refund_saga::Refund;
using refund_saga::Saga;
using refund_saga::Standing;

constexpr std::string_view usage =
    "refund_saga: usage: refund_saga run --database-url URL --services URL --refund ID [--payment ID] "
    "[--amount-cents N] [--lease-ms N] [--deadline-ms N]\n"
    "                    refund_saga sweep --database-url URL --services URL [--lease-ms N] [--deadline-ms "
    "N]\n";

struct Arguments {
  bool sweep = false;
  std::string database_url;
  std::string services;
  Refund refund;
  idem::ReserveOptions reserve;
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
  arguments.reserve.lease = std::chrono::milliseconds{*lease};
  arguments.reserve.call_deadline = std::chrono::milliseconds{*deadline};
  return arguments;
}

void tell(const std::string& refund_id, const Standing& standing) {
  nlohmann::ordered_json told_steps = nlohmann::ordered_json::object();
  for (const refund_saga::Step& step : refund_saga::steps) {
    const auto found = standing.progress.find(step.name);
    if (found != standing.progress.end()) told_steps[found->first] = name(found->second);
  }
  const nlohmann::ordered_json told{
      {"refund", refund_id}, {"state", name(standing.state)}, {"steps", told_steps}};
  std::cout << told.dump() << '\n' << std::flush;
}

int fail(const std::string& refund_id, const std::exception& failure) {
  const std::string_view message = failure.what();
  // One line: further ones may repeat a statement.
  std::cerr << "refund_saga: " << refund_id << (refund_id.empty() ? "" : ": ")
            << message.substr(0, message.find('\n')) << '\n';
  return 1;
}

int run(Saga& saga, const Refund& refund) {
  if (saga.start(refund) == refund_saga::Started::another) {
    throw std::invalid_argument{"there is another refund with this id"};
  }
  tell(refund.id, saga.proceed(refund.id));
  return 0;
}

// Whatever a refund waits for: a call without an answer, and one that was not yet made, as the process ended between two
// steps. idem::Sweep looks for the former alone. One refund that fails holds up no other.
int sweep(Saga& saga, examples::Session& session) {
  int status = 0;
  for (const std::string& id : refund_saga::unfinished_refunds(*session.begin())) {
    try {
      tell(id, saga.proceed(id));
    } catch (const std::exception& failure) {
      status = fail(id, failure);
    }
  }
  return status;
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
  Saga saga{backend, session, services, arguments.reserve};
  return arguments.sweep ? sweep(saga, session) : run(saga, arguments.refund);
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
    return fail(arguments->refund.id, failure);
  }
}
