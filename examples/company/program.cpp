#include "program.hpp"

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "book.hpp"
#include "end_signals.hpp"
#include "ledger.hpp"
#include "listen_address.hpp"
#include "server.hpp"

namespace company {
namespace {

struct Arguments {
  examples::ListenAddress listen;
  std::string ledger;
};

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  std::optional<std::string> listen;
  std::optional<std::string> ledger;
  for (std::size_t i = 1; i < words.size(); i += 2) {
    auto* option = words[i] == "--listen" ? &listen : words[i] == "--ledger" ? &ledger : nullptr;
    if (!option || *option || i + 1 == words.size()) return std::nullopt;
    *option = words[i + 1];
  }
  if (!listen || !ledger || ledger->empty()) return std::nullopt;
  const auto address = examples::listen_address(*listen);
  if (!address) return std::nullopt;
  return Arguments{*address, *ledger};
}

int fail(const Company& company, int status, std::string_view message) {
  std::cerr << company.words.program << ": " << message << '\n';
  return status;
}

[[noreturn]] void serve(const Company& company, const Arguments& arguments) {
  const examples::EndSignals ends;
  Ledger ledger{company.words, arguments.ledger};
  Book book{company, ledger};
  Server server{company, book};
  const int port = server.listen(arguments.listen);
  std::thread{[&] {
    server.serve();
    std::_Exit(fail(company, 1, "cannot accept connections any more"));
  }}.detach();
  std::cout << "listening on " << examples::http_url(arguments.listen.host, port) << '\n' << std::flush;

  ends.wait();
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
