#include "program.hpp"

#include <pthread.h>

#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "book.hpp"
#include "ledger.hpp"
#include "server.hpp"

namespace company {
namespace {

struct Arguments {
  std::string host;
  int port = 0;
  std::string ledger;
};

std::optional<int> port(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{} || stopped != end || number < 0 || number > 65535) return std::nullopt;
  return number;
}

// `[::1]:80` too.
bool split(std::string_view address, Arguments& arguments) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto number = port(address.substr(colon + 1));
  std::string_view host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (!number || host.empty()) return false;
  arguments.host = host;
  arguments.port = *number;
  return true;
}

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  std::optional<std::string> listen;
  std::optional<std::string> ledger;
  for (std::size_t i = 1; i < words.size(); i += 2) {
    auto* option = words[i] == "--listen" ? &listen : words[i] == "--ledger" ? &ledger : nullptr;
    if (!option || *option || i + 1 == words.size()) return std::nullopt;
    *option = words[i + 1];
  }
  Arguments arguments;
  if (!listen || !ledger || ledger->empty() || !split(*listen, arguments)) return std::nullopt;
  arguments.ledger = *ledger;
  return arguments;
}

int fail(const Company& company, int status, std::string_view message) {
  std::cerr << company.words.program << ": " << message << '\n';
  return status;
}

std::string url(const std::string& host, int port) {
  const bool version_6 = host.find(':') != std::string::npos;
  return "http://" + (version_6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

[[noreturn]] void serve(const Company& company, const Arguments& arguments) {
  // Before the first thread, so that each of them leaves these to sigwait.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  Ledger ledger{company.words, arguments.ledger};
  Book book{company, ledger};
  Server server{company, book};
  const int port = server.listen(arguments.host, arguments.port);
  std::thread{[&] {
    server.serve();
    std::_Exit(fail(company, 1, "cannot accept connections any more"));
  }}.detach();
  std::cout << "listening on " << url(arguments.host, port) << '\n' << std::flush;

  int signal = 0;
  sigwait(&ends, &signal);
  // At once: some requests never end, and what counts is in the ledger.
  std::_Exit(0);
}

}  // namespace

int run(const Company& company, int argc, char** argv) {
  const std::span<char* const> words{argv, static_cast<std::size_t>(argc)};
  const auto arguments = parse({words.begin(), words.end()});
  if (!arguments) {
    return fail(company, 2, "usage: " + company.words.program + " --listen HOST:PORT --ledger FILE");
  }
  try {
    serve(company, *arguments);
  } catch (const std::exception& failure) {
    return fail(company, 1, failure.what());
  }
}

}  // namespace company
