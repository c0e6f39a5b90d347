// payments run --database-url URL --requests FILE.jsonl
//
// Exit status: 0 when every line was answered (invalid ones too), 1 when the database or the output failed, 2
// with one line on stderr for bad usage or a file that cannot be read.
#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run.hpp"

namespace {

constexpr std::string_view usage = "usage: payments run --database-url URL --requests FILE.jsonl";

struct Arguments {
  std::string database_url;
  std::string requests;
};

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1] != "run") return std::nullopt;
  std::optional<std::string> database_url;
  std::optional<std::string> requests;
  for (std::size_t i = 2; i < words.size(); i += 2) {
    auto* option = words[i] == "--database-url" ? &database_url
                   : words[i] == "--requests"   ? &requests
                                                : nullptr;
    if (!option || *option || i + 1 == words.size()) return std::nullopt;
    *option = words[i + 1];
  }
  if (!database_url || database_url->empty() || !requests) return std::nullopt;
  return Arguments{*database_url, *requests};
}

// One line: further ones may repeat a statement.
std::string_view told(const std::exception& failure) {
  const std::string_view message = failure.what();
  return message.substr(0, message.find('\n'));
}

int fail(int status, std::string_view message) {
  std::cerr << "payments: " << message << '\n';
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char* const> words{argv, static_cast<std::size_t>(argc)};
  const auto arguments = parse({words.begin(), words.end()});
  if (!arguments) return fail(2, usage);

  std::ifstream requests{arguments->requests, std::ios::binary};
  // A folder opens, and fails at the first byte.
  requests.peek();
  if (!requests.is_open() || requests.bad()) return fail(2, "cannot read " + arguments->requests);
  requests.clear();
  try {
    payments::run(arguments->database_url, requests, std::cout);
    return 0;
  } catch (const std::ios_base::failure&) {
    return fail(2, "cannot read " + arguments->requests);
  } catch (const std::exception& failure) {
    return fail(1, told(failure));
  }
}
