// payments_demo --database-url URL --requests FILE.jsonl: shows on an empty database that a batch with duplicates, a
// double click, a crash, redelivered events and a lost approval each have their effect once. Exit status: 0 when every number is right,
// 1 when one is wrong or the database failed, 2 for bad usage.
#include <cstddef>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "scenes.hpp"

int main(int argc, char** argv) {
  const std::span<char* const> arguments{argv, static_cast<std::size_t>(argc)};
  const std::vector<std::string> words{arguments.begin(), arguments.end()};
  if (words.size() != 5 || words[1] != "--database-url" || words[2].empty() || words[3] != "--requests") {
    std::cerr << "usage: payments_demo --database-url URL --requests FILE.jsonl\n";
    return 2;
  }
  payments::demo::Report report{std::cout};
  try {
    payments::demo::batch(report, words[2], words[4]);
    payments::demo::double_click(report, words[2]);
    payments::demo::crash(report, words[2]);
    payments::demo::redelivery(report, words[2]);
    payments::demo::lost_approval(report, words[2]);
  } catch (const std::exception& failure) {
    std::cerr << "payments_demo: " << failure.what() << '\n';
    return 1;
  }
  if (report.wrong() != 0) {
    std::cout << "\nWRONG: " << report.wrong() << " of these numbers\n";
    return 1;
  }
  std::cout << "\nEvery number is right: each command and each event took effect once.\n";
  return 0;
}
