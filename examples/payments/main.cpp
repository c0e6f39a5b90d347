// payments run --database-url URL --requests FILE.jsonl [--acquirer URL [CALL]]
// payments sweep --database-url URL --acquirer URL [CALL]
// payments repair --database-url URL
//
// CALL: --lease-ms N, --deadline-ms N, --no-deduplication
//
// Exit status: 0 when every line was answered (invalid ones too), or every charge was swept, or every repair applied; 1 when the
// database or the output failed, or a charge could not be swept or repaired; 2 with one line on stderr for bad usage or a file that
// cannot be read.
#include <charconv>
#include <chrono>
#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "acquirer_at.hpp"
#include "charge_operation.hpp"
#include "first_line.hpp"
#include "idem/error.hpp"
#include "repair.hpp"
#include "run.hpp"
#include "sweep.hpp"

namespace {

constexpr std::string_view usage =
    "usage: payments run --database-url URL --requests FILE.jsonl [--acquirer URL [CALL]] | "
    "payments sweep --database-url URL --acquirer URL [CALL] | payments repair --database-url URL, "
    "where CALL is --lease-ms N --deadline-ms N --no-deduplication";

enum class Verb { run, sweep, repair };

std::optional<Verb> verb_named(std::string_view name) {
  if (name == "run") return Verb::run;
  if (name == "sweep") return Verb::sweep;
  if (name == "repair") return Verb::repair;
  return std::nullopt;
}

struct Arguments {
  Verb verb = Verb::run;
  std::string database_url;
  std::string requests;  // of a run
  std::optional<std::string> acquirer;
  payments::Charging charging;  // whom it asks is not known yet
};

std::optional<std::chrono::milliseconds> milliseconds(std::string_view text) {
  std::chrono::milliseconds::rep number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{} || stopped != end || number < 1) return std::nullopt;
  return std::chrono::milliseconds{number};
}

// Each option at most once.
std::optional<std::map<std::string, std::string>> options_in(std::span<const std::string> words) {
  std::map<std::string, std::string> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& name = words[i];
    std::string value;
    if (name != "--no-deduplication") {
      if (++i == words.size()) return std::nullopt;
      value = words[i];
    }
    if (!options.emplace(name, std::move(value)).second) return std::nullopt;
  }
  return options;
}

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  const auto verb = words.size() < 2 ? std::nullopt : verb_named(words[1]);
  if (!verb) return std::nullopt;
  Arguments arguments;
  arguments.verb = *verb;
  auto options = options_in(std::span{words}.subspan(2));
  if (!options) return std::nullopt;
  const auto take = [&](const char* name) -> std::optional<std::string> {
    auto found = options->extract(name);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
  };

  auto database_url = take("--database-url");
  if (!database_url || database_url->empty()) return std::nullopt;
  arguments.database_url = *std::move(database_url);
  if (*verb == Verb::run) {
    auto requests = take("--requests");
    if (!requests) return std::nullopt;
    arguments.requests = *std::move(requests);
  }
  if (*verb != Verb::repair) arguments.acquirer = take("--acquirer");
  if (*verb == Verb::sweep && !arguments.acquirer) return std::nullopt;
  if (arguments.acquirer) {
    arguments.charging.deduplicates = !take("--no-deduplication");
    for (const auto& [name, duration] : {std::pair{"--lease-ms", &arguments.charging.lease},
                                         std::pair{"--deadline-ms", &arguments.charging.deadline}}) {
      if (const auto text = take(name)) {
        const auto given = milliseconds(*text);
        if (!given) return std::nullopt;
        *duration = *given;
      }
    }
  }
  if (!options->empty()) return std::nullopt;
  return arguments;
}

int fail(int status, std::string_view message) {
  std::cerr << "payments: " << message << '\n';
  return status;
}

int run(const Arguments& arguments) {
  std::ifstream requests{arguments.requests, std::ios::binary};
  // A folder opens, and fails at the first byte.
  requests.peek();
  if (!requests.is_open() || requests.bad()) return fail(2, "cannot read " + arguments.requests);
  requests.clear();
  try {
    payments::run(arguments.database_url, requests, std::cout,
                  arguments.acquirer ? &arguments.charging : nullptr);
    return 0;
  } catch (const std::ios_base::failure&) {
    return fail(2, "cannot read " + arguments.requests);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::span<char* const> words{argv, static_cast<std::size_t>(argc)};
    auto arguments = parse({words.begin(), words.end()});
    if (!arguments) return fail(2, usage);
    if (arguments->acquirer) {
      try {
        arguments->charging.ask = payments::acquirer_at(*arguments->acquirer);
        payments::validate(arguments->charging);
      } catch (const std::invalid_argument& refused) {
        return fail(2, refused.what());
      } catch (const idem::InvalidArgument& refused) {
        return fail(2, refused.what());
      }
    }
    switch (arguments->verb) {
      case Verb::sweep:
        return payments::sweep(arguments->database_url, arguments->charging, std::cout, std::cerr) ? 0 : 1;
      case Verb::repair:
        return payments::repair(arguments->database_url, std::cout, std::cerr) ? 0 : 1;
      case Verb::run:
        break;
    }
    return run(*arguments);
  } catch (const std::exception& failure) {
    return fail(1, payments::first_line(failure));
  }
}
