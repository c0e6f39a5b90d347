#include "idem/postgres/reconcile.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "failure.hpp"
#include "idem/postgres/repair.hpp"
#include "settlement_file.hpp"
#include "spool.hpp"
#include "text.hpp"
#include "values.hpp"

namespace idemctl {
namespace {

using idem::Finding;
using nlohmann::ordered_json;

idem::postgres::ReconcileOptions options_in(const Arguments& arguments) {
  idem::postgres::ReconcileOptions options{.downstream = arguments.required("downstream")};
  if (const auto word = arguments.one("from")) options.from = time_of("from", *word);
  if (const auto word = arguments.one("until")) options.until = time_of("until", *word);
  if (options.from && options.until && *options.from >= *options.until) {
    throw Failure{"--from must be before --until"};
  }
  if (const auto word = arguments.one("effects")) {
    options.effects = {.schema = arguments.one("effects-schema").value_or(""), .name = *word};
  } else if (arguments.has("effects-schema")) {
    throw Failure{"--effects-schema is of use with --effects only"};
  }
  if (arguments.has("closed") && (!options.from || !options.until)) {
    throw Failure{"--closed needs --from and --until: the period that the settlement is complete for"};
  }
  if (!arguments.has("queue") && (arguments.has("yes") || arguments.has("who"))) {
    throw Failure{"--yes and --who are of use with --queue only"};
  }
  return options;
}

std::vector<std::string> words_of(const idem::Differences& differs) {
  std::vector<std::string> words;
  if (differs.outcome) words.emplace_back("outcome");
  if (differs.amount) words.emplace_back("amount");
  if (differs.reference) words.emplace_back("reference");
  if (differs.charged_twice) words.emplace_back("charged_twice");
  return words;
}

// Lines of tabs and line feeds, which no cell holds. The columns' widths are known once all are there.
class Table {
 public:
  void add(const Finding& finding) {
    const auto& ours = finding.ours;
    const auto& entry = finding.entry;
    std::string differs;
    for (const std::string& word : words_of(finding.differs)) differs += (differs.empty() ? "" : ",") + word;
    if (!any_) {
      put({"KIND", "DIFFERS", "STATE", "OUTCOME", "AMOUNT", "REFERENCE", "DOWNSTREAM KEY", "PRINCIPAL",
           "OPERATION", "KEY"});
    }
    any_ = true;
    put({std::string{to_string(finding.kind)}, differs.empty() ? "-" : differs,
         ours ? std::string{name_of(ours->state)} : "-", entry ? std::string{to_string(entry->outcome)} : "-",
         entry ? std::to_string(entry->amount) : "-",
         entry && !entry->reference.empty() ? printable(entry->reference) : "-",
         printable(entry ? entry->downstream_key : ours->downstream_key),
         ours ? printable(ours->key.principal) : "-", ours ? printable(ours->key.operation) : "-",
         ours ? printable(ours->key.value) : "-"});
  }

  [[nodiscard]] Spool laid_out() {
    Spool table;
    rows_.read_lines([&](const std::string& line) { table.append(padded(line)); });
    return table;
  }

 private:
  using Row = std::array<std::string, 10>;

  void put(const Row& row) {
    std::string line;
    for (std::size_t at = 0; at < row.size(); ++at) {
      widths_.at(at) = std::max(widths_.at(at), characters_in(row.at(at)));
      line += row.at(at) + (at + 1 < row.size() ? '\t' : '\n');
    }
    rows_.append(line);
  }

  [[nodiscard]] std::string padded(std::string_view line) const {
    std::string text;
    for (std::size_t at = 0; at < widths_.size(); ++at) {
      const std::string cell{line.substr(0, line.find('\t'))};
      line.remove_prefix(std::min(cell.size() + 1, line.size()));
      text += cell;
      if (at + 1 < widths_.size()) text += std::string(widths_.at(at) - characters_in(cell) + 2, ' ');
    }
    return text + '\n';
  }

  bool any_ = false;
  std::array<std::size_t, 10> widths_{};
  Spool rows_;
};

ordered_json json_of(const idem::SettlementEntry& entry) {
  ordered_json json;
  json["downstream_key"] = entry.downstream_key;
  json["outcome"] = to_string(entry.outcome);
  json["amount"] = entry.amount;
  json["reference"] = entry.reference;
  json["at"] = nullptr;
  if (entry.at) json["at"] = printable(*entry.at);
  return json;
}

ordered_json json_of(const idem::OurSide& ours) {
  ordered_json json;
  json["downstream_key"] = ours.downstream_key;
  json["state"] = name_of(ours.state);
  json["principal"] = ours.key.principal;
  json["operation"] = ours.key.operation;
  json["key"] = ours.key.value;
  json["fence"] = ours.holder.fence;
  json["attempt"] = ours.holder.attempt.to_string();
  json["generation"] = ours.generation;
  json["created_at"] = printable(ours.created_at);
  json["amount"] = nullptr;
  if (ours.amount) json["amount"] = *ours.amount;
  json["reference"] = nullptr;
  if (ours.reference) json["reference"] = *ours.reference;
  return json;
}

std::string line_of(const Finding& finding) {
  ordered_json line;
  line["kind"] = to_string(finding.kind);
  line["differs"] = words_of(finding.differs);
  line["entry"] = nullptr;
  if (finding.entry) line["entry"] = json_of(*finding.entry);
  line["ours"] = nullptr;
  if (finding.ours) line["ours"] = json_of(*finding.ours);
  return json_line(line);
}

/// What became of the repairs.
struct Repairs {
  std::uint64_t queued = 0;
  std::uint64_t known = 0;
};

std::string counted(std::uint64_t number, const std::string& one, const std::string& many) {
  return std::to_string(number) + ' ' + (number == 1 ? one : many);
}

std::string text_of(const idem::ReconcileSummary& summary) {
  return counted(summary.entries, "entry", "entries") + ": " + std::to_string(summary.matched) +
         " matched, " + std::to_string(summary.theirs_only) + " theirs only, " +
         std::to_string(summary.differing) + " differing (" + std::to_string(summary.charged_twice) +
         " charged twice); " + counted(summary.ours_only, "record", "records") + " ours only\n";
}

std::string text_of(const Repairs& repairs, bool yes) {
  return (yes ? "queued " : "would queue ") + counted(repairs.queued, "repair", "repairs") + "; " +
         std::to_string(repairs.known) + (yes ? " were queued before\n" : " are queued already\n") +
         (yes ? ""
              : "nothing was changed. With --yes it is done; records and business rows stay as they are.\n");
}

std::string line_of(const idem::ReconcileSummary& summary, const Repairs& repairs, bool queue, bool yes) {
  ordered_json line;
  line["kind"] = "summary";
  line["entries"] = summary.entries;
  line["matched"] = summary.matched;
  line["ours_only"] = summary.ours_only;
  line["theirs_only"] = summary.theirs_only;
  line["differing"] = summary.differing;
  line["charged_twice"] = summary.charged_twice;
  if (queue) {
    line[yes ? "queued" : "would_queue"] = repairs.queued;
    line["queued_before"] = repairs.known;
  }
  return json_line(line);
}

}  // namespace

Answer reconcile(Words words) {
  const Arguments arguments{words,
                            {{"database-url"},
                             {"settlement"},
                             {"downstream"},
                             {"from"},
                             {"until"},
                             {"effects"},
                             {"effects-schema"},
                             {"closed", Option::Takes::nothing},
                             {"queue", Option::Takes::nothing},
                             {"who"},
                             {"yes", Option::Takes::nothing},
                             {"json", Option::Takes::nothing},
                             {"schema"},
                             {"record-table"},
                             {"repair-table"},
                             {"downstream-key-function"}}};
  const auto options = options_in(arguments);
  const idem::postgres::Names names = names_in(arguments);
  const std::string who = arguments.one("who").value_or("idemctl reconcile");
  const auto closed = arguments.has("closed") ? idem::Settlement::closed : idem::Settlement::open;
  const bool queue = arguments.has("queue");
  const bool yes = arguments.has("yes");
  const bool json = arguments.has("json");
  const std::string url = arguments.required("database-url");
  SettlementFile file{arguments.required("settlement")};
  Table table;
  Spool lines;
  Repairs repairs;
  idem::ReconcileSummary summary;
  bool any_of_ours = false;
  with_connection(url, [&](pqxx::connection& connection) {
    // Without --yes the same is done and rolled back, so that whatever would refuse it is told.
    pqxx::work tx{connection};
    summary = idem::postgres::reconcile(
        tx, names, options, [&] { return file.next(); },
        [&](const Finding& finding) {
          any_of_ours = any_of_ours || finding.ours.has_value();
          if (queue && repairable_as(finding, closed)) {
            ++(idem::postgres::queue_repair(tx, names, finding, who, closed) ? repairs.queued
                                                                             : repairs.known);
          }
          if (finding.kind == idem::FindingKind::matched) return;
          if (json) {
            lines.append(line_of(finding));
          } else {
            table.add(finding);
          }
        });
    // An export that went wrong looks like this, and every UNKNOWN record would become one that was not charged.
    if (closed == idem::Settlement::closed && summary.entries == 0) {
      throw Failure{"the settlement has no entries at all, so --closed is not believed; nothing was changed"};
    }
    if (queue && yes) tx.commit();
  });
  Answer answer;
  answer.exit_code = queue && !yes && repairs.queued > 0 ? 3 : 0;
  answer.out = json ? line_of(summary, repairs, queue, yes)
                    : text_of(summary) + (queue ? text_of(repairs, yes) : std::string{});
  answer.first = json ? std::move(lines) : table.laid_out();
  if (summary.entries > 0 && !any_of_ours)
    answer.note = "no entry has a record: is --downstream the name that records have?";
  return answer;
}

}  // namespace idemctl
