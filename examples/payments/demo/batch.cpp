#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../run.hpp"
#include "scenes.hpp"

namespace payments::demo {
namespace {

using nlohmann::json;

// What is in requests.jsonl: stated, never counted by the code that is being shown.
constexpr std::int64_t lines = 219;
constexpr std::int64_t approved = 66;
constexpr std::int64_t declined = 10;
constexpr std::int64_t repeated = 96;
constexpr std::int64_t changed = 21;
constexpr std::int64_t invalid = 26;
// Two of the approved ones are for a seat that the learner has already, under a new key: a new intent, but no
// new seat.
constexpr std::int64_t seats = 64;
// Events that are delivered once more: under their own id, and under a new one.
constexpr std::int64_t same_event = 6;
constexpr std::int64_t new_event = 4;

std::vector<json> run_once(const std::string& database_url, const std::string& requests_file) {
  std::ifstream requests{requests_file, std::ios::binary};
  if (!requests) throw std::runtime_error{"cannot read " + requests_file};
  std::stringstream output;
  run(database_url, requests, output);
  std::vector<json> answers;
  for (std::string line; std::getline(output, line);) answers.push_back(json::parse(line));
  return answers;
}

// The file's first lines, in words, and their answers.
void show_beginning(Report& report, const std::vector<json>& answers) {
  constexpr std::array<std::string_view, 8> sent{
      "ann pays 12.90 for cpp-20 under the key tap-1",
      "the same again",
      "again, members reordered, 1290 written 1.29e3",
      "the same key, but 99.00",
      "bob pays 12.90 for cpp-20; his key is tap-1 too",
      "ann pays 25.13 for rust-1: ...13 is declined",
      "the same again",
      "a line that breaks off",
  };
  report.text(
      "line  sent                                             answered     status  SHA-256 of the body");
  for (std::size_t i = 0; i < sent.size(); ++i) {
    std::ostringstream row;
    row << std::setw(4) << i + 1 << "  " << std::left << std::setw(49) << sent[i] << std::setw(13)
        << answers.at(i).at("outcome").get<std::string>() << std::setw(8)
        << answers[i].at("status").get<int>() << answers[i].at("body_sha256").get<std::string>().substr(0, 12)
        << "...";
    report.text(row.str());
  }
  report.text("and so on");
}

class Counts {
 public:
  explicit Counts(const std::vector<json>& answers) : summary_(answers.back().at("summary")) {
    for (std::size_t i = 0; i + 1 < answers.size(); ++i) {
      ++outcomes_[answers[i].at("outcome").get<std::string>() + " " + answers[i].at("status").dump()];
      if (answers[i].contains("redelivery")) ++outcomes_[answers[i].at("redelivery").get<std::string>()];
    }
  }
  [[nodiscard]] std::int64_t of(const std::string& outcome) const {
    const auto found = outcomes_.find(outcome);
    return found == outcomes_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::int64_t replays() const { return of("replayed 201") + of("replayed 402"); }
  [[nodiscard]] std::int64_t rows(const char* name) const { return summary_.at(name).get<std::int64_t>(); }

 private:
  std::map<std::string, std::int64_t> outcomes_;
  json summary_;
};

void show_rows(Report& report, const Counts& counts) {
  report.count("events delivered once more: duplicate", counts.of("duplicate"), same_event);
  report.count("events delivered once more under a new id: applied", counts.of("applied"), new_event);
  report.count("in the database: charges", counts.rows("charges"), approved);
  report.count("in the database: declines", counts.rows("declines"), declined);
  report.count("in the database: seats (two were paid for under a second key)", counts.rows("seats"), seats);
  report.count("in the database: receipts", counts.rows("receipts"), approved);
}

}  // namespace

void batch(Report& report, const std::string& database_url, const std::string& requests_file) {
  report.heading("1. A file of requests, sent twice");
  const std::vector<json> first = run_once(database_url, requests_file);
  show_beginning(report, first);

  const Counts once{first};
  report.heading("   The first time");
  report.count("lines answered", static_cast<std::int64_t>(first.size()) - 1, lines);
  report.count("executed, approved (201)", once.of("executed 201"), approved);
  report.count("executed, declined (402)", once.of("executed 402"), declined);
  report.count("replayed: the first answer again", once.replays(), repeated);
  report.count("mismatch: a key used again for another request (422)", once.of("mismatch 422"), changed);
  report.count("invalid (400)", once.of("invalid 400"), invalid);
  show_rows(report, once);

  const std::vector<json> second = run_once(database_url, requests_file);
  std::int64_t same = 0;
  for (std::size_t i = 0; i + 1 < first.size() && i + 1 < second.size(); ++i) {
    const bool equal = first[i].at("status") == second[i].at("status") &&
                       first[i].at("body_sha256") == second[i].at("body_sha256");
    same += equal ? 1 : 0;
  }
  const Counts twice{second};
  report.heading("   The whole file again");
  report.count("executed", twice.of("executed 201") + twice.of("executed 402"), 0);
  report.count("replayed", twice.replays(), approved + declined + repeated);
  report.count("mismatch (422)", twice.of("mismatch 422"), changed);
  report.count("invalid (400)", twice.of("invalid 400"), invalid);
  report.count("lines with the same status and body as the first time", same, lines);
  show_rows(report, twice);
}

}  // namespace payments::demo
