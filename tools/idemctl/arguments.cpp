#include "arguments.hpp"

#include <getopt.h>

#include <algorithm>
#include <string_view>

#include "failure.hpp"

namespace idemctl {
namespace {

constexpr const char* unknown_option =
    "unknown option, or a value for one that takes none; see idemctl --help";

}  // namespace

Arguments::Arguments(std::span<char* const> words, std::initializer_list<Option> known) {
  // getopt skips the first word, which is the program's name for it.
  std::string name = "idemctl";
  std::vector<char*> argv{name.data()};
  argv.insert(argv.end(), words.begin(), words.end());
  const int count = static_cast<int>(argv.size());
  argv.push_back(nullptr);

  // getopt_long answers with a place in `known`, counted from 1: '?' and ':' are far beyond.
  std::vector<option> options;
  for (int place = 1; const Option& each : known) {
    options.push_back({each.name, each.takes == Option::Takes::nothing ? no_argument : required_argument,
                       nullptr, place++});
  }
  options.push_back({});
  const auto known_at = [known](int place) -> const Option& { return known.begin()[place - 1]; };

  opterr = 0;
  optind = 0;
  // '+' keeps the words in their order, and ':' tells a missing value from an unknown option.
  for (;;) {
    const char* const at = argv[static_cast<std::size_t>(std::max(optind, 1))];
    const std::string_view word = at == nullptr ? "" : at;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread.
    const int answer = getopt_long(count, argv.data(), "+:", options.data(), nullptr);
    if (answer == -1) break;
    if (answer == ':') throw Failure{std::string{"--"} + known_at(optopt).name + " needs a value"};
    if (answer == '?') throw Failure{unknown_option};
    const Option& option = known_at(answer);
    // getopt takes any beginning that fits one option only: --y would be the --yes that a destructive verb asks for.
    if (word.substr(2, word.find('=') - 2) != option.name) throw Failure{unknown_option};
    std::vector<std::string>& values = given_[option.name];
    if (option.takes != Option::Takes::many_values && !values.empty()) {
      throw Failure{std::string{"--"} + option.name + " is given twice"};
    }
    values.emplace_back(optarg != nullptr ? optarg : "");
  }
  if (optind < count) throw Failure{"unexpected word after the options; see idemctl --help"};
}

std::vector<std::string> Arguments::all(const std::string& name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<std::string> Arguments::one(const std::string& name) const {
  const auto found = given_.find(name);
  if (found == given_.end()) return std::nullopt;
  return found->second.front();
}

std::string Arguments::required(const std::string& name) const {
  auto value = one(name);
  if (!value || value->empty()) throw Failure{"--" + name + " is needed, and must not be empty"};
  return *std::move(value);
}

}  // namespace idemctl
