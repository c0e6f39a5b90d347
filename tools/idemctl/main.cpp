// idemctl: the operator's command line. README and docs/operations.md show its use.
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "failure.hpp"
#include "idem/base/version.hpp"
#include "output.hpp"

namespace idemctl {
namespace {

constexpr std::string_view usage = R"(idemctl canonicalize [--rfc8785] < JSON
    The canonical form of the JSON text on standard input, without a newline. Integers keep every digit; with --rfc8785
    every number is an IEEE 754 double, as RFC 8785 has it.

idemctl fingerprint --operation OP [--method M] [--query Q] [--include POINTER]... [--exclude POINTER]...
                    [--content-type TYPE] < BODY
    The unkeyed fingerprint of a request with this body, as 66 hex digits. Method and query are empty where they are not
    given. POINTER is a JSON Pointer (RFC 6901). TYPE is application/json otherwise.

idemctl schema print [NAMES]
    The SQL that makes idem's tables.

idemctl schema apply --database-url URL [NAMES]
    Makes them, or brings them to this version, in one transaction. Safe to repeat.

idemctl show --database-url URL --principal P --operation OP --key K [--body] [--schema NAME] [--record-table NAME]
    The record of one key, without the response's body; with --body that body alone, byte for byte. Reads only.

idemctl list --database-url URL [--state S]... [--principal P] [--operation OP] [--older-than DURATION] [--limit N]
             [--json] [--schema NAME] [--record-table NAME]
    The records that meet every condition, the oldest first: state, age, principal, operation, key; with --json one JSON
    object a line, with more. S is in_progress, completed, failed or unknown; DURATION is 90s, 15m, 36h, 7d; N is 1000
    where it is not given. Reads only, but the whole table.

idemctl resolve --database-url URL --principal P --operation OP --key K --fence F --attempt UUID
                --state completed --status N [--header "Name: value"]... --who W --why TEXT
                (--generation F | --charged-at TIME) [--yes] [--schema NAME] [--record-table NAME] < BODY
idemctl resolve ... --state failed ... --no-effect REASON [--yes] ... < BODY
    Settles an UNKNOWN record with the answer that every retry then gets: this status, these headers, and standard input
    as the body, byte for byte. Fence, attempt and generation are what show and list print. REASON is stored-decline,
    void-refuses-later, closed-settlement or operator-decision. TIME is when the charge was made, as RFC 3339 has it.
    Without --yes it says what it would do and changes nothing: exit code 3. Safe to repeat. Business rows are not
    touched: a service that keeps such rows resolves in the transaction that also updates them.

idemctl purge --database-url URL --older-than DURATION [--batch N] [--yes] [--schema NAME] [--record-table NAME]
              [--inbox-table NAME]
    Deletes the settled records that have expired and the inbox rows of events that can no longer be delivered, where
    they are at least that old. Unsettled records, IN_PROGRESS and UNKNOWN, are never touched, however old. Works in short
    transactions of at most N rows, 1000 where it is not given, and leaves rows that somebody is using. Without --yes it
    says how many rows of each it would delete at this moment and changes nothing: exit code 3; for that it reads both
    tables. Safe to repeat, to break off, and to run several at once.

idemctl reconcile --database-url URL --settlement FILE --downstream NAME [--from T] [--until T]
                  [--effects VIEW [--effects-schema NAME]] [--closed] [--queue [--who W] [--yes]] [--json]
                  [--schema NAME] [--record-table NAME] [--repair-table NAME] [--downstream-key-function NAME]
    Compares what a downstream says that it did with the records that name it: one line for each finding that is not a
    match, and the counts; with --json one JSON object a line, the last of which has the counts. FILE is CSV as RFC 4180
    has it; its first line names the columns downstream_key, outcome (charged or declined), amount (minor units), reference
    and, if it is there, at (a time), in any order. Records that no entry names are told where they were created at or
    after --from and before --until; T is a time as RFC 3339 has it. VIEW says what you think you charged, by
    downstream_key, amount and reference, which are then compared too.
    --queue queues the repairs of UNKNOWN records that the settlement tells of; with --closed also of those that it does
    not name: only where nothing is added to it any more and it holds every call of that period. Without --yes it says how
    many it would queue and changes nothing: exit code 3. Safe to repeat. Neither records nor business rows are touched.

idemctl repairs --database-url URL [--operation OP] [--done] [--limit N] [--schema NAME] [--repair-table NAME]
    The queued repairs, the first queued first, one JSON object a line; with --done also those that are done. N is 1000 where
    it is not given. Reads only.

idemctl repairs cancel --database-url URL --repair-key UUID --who W --why TEXT [--yes] [--schema NAME] [--repair-table NAME]
    Takes a repair out of the queue unapplied: the record stays UNKNOWN, and the same words of a settlement queue it no more.
    Without --yes it changes nothing: exit code 3.

idemctl inbox show --database-url URL --consumer C --source S --event ID [--schema NAME] [--inbox-table NAME]
    When this consumer received that event, and until when that is remembered. Reads only. Exit code 1 where it has not
    seen it.

NAMES: --schema NAME --record-table NAME --inbox-table NAME --version-guard-table NAME --outbox-table NAME
       --version-table NAME --repair-table NAME --key-hash-function NAME --downstream-key-function NAME
    Where the names are not the defaults: the search path's schema, idem_record, idem_inbox, idem_version_guard,
    idem_outbox, idem_schema_version, idem_repair, idem_key_hash, idem_downstream_key.

URL is postgresql://USER@HOST:PORT/DATABASE. Other users of the machine can see it: leave the password to PGPASSWORD or
to ~/.pgpass.

Exit code 0: done. 1: no such record or event. 2: bad input or arguments, or it could not be done; standard error then has one
line that says why, without the input, and standard output has nothing (unless writing there is what failed). 3: it
would be done, but --yes was not given.
)";

std::string version() {
  return "idemctl " + std::to_string(IDEM_VERSION_MAJOR) + '.' + std::to_string(IDEM_VERSION_MINOR) + '.' +
         std::to_string(IDEM_VERSION_PATCH) + '\n';
}

Answer answer(Words words) {
  for (const std::string_view word : words) {
    if (word == "--help" || word == "-h") return {std::string{usage}};
  }
  const auto is = [words](std::size_t at, std::string_view word) {
    return words.size() > at && words[at] == word;
  };
  if (is(0, "help")) return {std::string{usage}};
  if (is(0, "--version")) return {version()};
  if (is(0, "canonicalize")) return {canonicalize(words.subspan(1))};
  if (is(0, "fingerprint")) return {fingerprint(words.subspan(1))};
  if (is(0, "schema") && is(1, "print")) return {schema_print(words.subspan(2))};
  if (is(0, "schema") && is(1, "apply")) return {schema_apply(words.subspan(2))};
  if (is(0, "schema")) throw Failure{"after schema comes print or apply; see idemctl --help"};
  if (is(0, "show")) return {show(words.subspan(1))};
  if (is(0, "list")) return list(words.subspan(1));
  if (is(0, "resolve")) return resolve(words.subspan(1));
  if (is(0, "purge")) return purge(words.subspan(1));
  if (is(0, "reconcile")) return reconcile(words.subspan(1));
  if (is(0, "repairs") && is(1, "cancel")) return repairs_cancel(words.subspan(2));
  if (is(0, "repairs")) return repairs(words.subspan(1));
  if (is(0, "inbox") && is(1, "show")) return {inbox_show(words.subspan(2))};
  if (is(0, "inbox")) throw Failure{"after inbox comes show; see idemctl --help"};
  throw Failure{
      "the first word must be canonicalize, fingerprint, schema, show, list, resolve, purge, reconcile, "
      "repairs or inbox; see idemctl --help"};
}

int run(Words words) noexcept {
  try {
    Answer done = answer(words);
    write_output(done.first, done.out);
    if (!done.note.empty()) write_error(done.note);
    return done.exit_code;
  } catch (const NotFound& failure) {
    write_error(failure.what());
    return 1;
  } catch (const std::bad_alloc&) {
    write_error("out of memory");
  } catch (const std::exception& failure) {
    write_error(failure.what());
  }
  return 2;
}

}  // namespace
}  // namespace idemctl

int main(int argc, char** argv) {
  const std::span<char* const> words{argv, static_cast<std::size_t>(argc)};
  return idemctl::run(words.empty() ? words : words.subspan(1));
}
