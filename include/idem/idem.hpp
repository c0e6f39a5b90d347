// All of idem that does not depend on where the records are kept. A program includes this and the header of its backend,
// idem/postgres.hpp or idem/memory.hpp; idem/http.hpp and idem/testing.hpp are there for those who want them.
//
// The parts below stand in the order to read them in. Each is a header of its own, for programs that count their includes.
// Two are left out, as each needs another library: idem/request/nlohmann_json.hpp (fingerprints of parsed JSON) and
// idem/zlib/zlib_codec.hpp (stored bodies compressed).
#pragma once

// ---- What is asked for: a key names the intent, and a fingerprint tells another request under the same key.

// Key: principal, operation and the client's idempotency key.
#include "idem/request/key.hpp"
// Fingerprinter: what counts in a request, hashed. Fingerprint: what is stored and compared.
#include "idem/request/fingerprint.hpp"

// ---- What is answered: the first answer, which every retry gets byte for byte.

// Response: status, chosen headers and body. text_response() makes one.
#include "idem/response/response.hpp"
// Outcome: Executed, Replay, InProgress, Mismatch or Unknown. completed() and failed() make a handler's decision.
#include "idem/command/outcome.hpp"

// ---- What your own tables decide: one transaction.

// execute(): runs a handler once, in your transaction. It never commits.
#include "idem/command/execute.hpp"
// transact(): the same with begin, commit, retries, and the question of a COMMIT whose answer was lost.
#include "idem/command/transact.hpp"
// ReserveOptions: lease, retention, waiting, and whom a command calls.
#include "idem/record/options.hpp"
// Failure and RetryOptions: what is tried again, how often and how patiently.
#include "idem/command/retry.hpp"

// ---- What somebody outside decides: a call between two commits.

// external_call(): reserves, calls, stores the answer; UNKNOWN where nobody knows it.
#include "idem/call/external_call.hpp"
// downstream_key(): the key that is handed to the service that is called.
#include "idem/call/downstream_key.hpp"
// Sweep: ends the calls that no client asks for again.
#include "idem/call/sweep.hpp"

// ---- Events: in once, and out with the business row.

// EventIdentity: who made an event, and which of its events it is; read from CloudEvents and Debezium too.
#include "idem/event/event_identity.hpp"
// Inbox: applies an event in the transaction that marks it as seen, once, however often it comes.
#include "idem/event/inbox.hpp"
// VersionGuard: applies only what is newer than what was applied.
#include "idem/event/version_guard.hpp"
// Outbox: appends events in the transaction of the business row.
#include "idem/event/outbox.hpp"

// ---- How answers are stored.

// ResponseRules: what is left out, how bodies are encoded, and how a replay tells.
#include "idem/response/rules.hpp"
// holds_card_data() and check_no_card_data(): card numbers and security codes, which must not be stored.
#include "idem/response/card_guard.hpp"
// AesGcmCodec: bodies encrypted where they are stored.
#include "idem/response/aes_gcm_codec.hpp"

// ---- What is not known any more, settled by what the other side says.

// Finding and Differences: a settlement held against the records (idem::postgres::reconcile does it).
#include "idem/settlement/reconcile.hpp"
// apply_repair(): settles an UNKNOWN record through the operation's own finish().
#include "idem/settlement/repair.hpp"

// ---- Running it.

// purge_records() and purge_inbox(): deletes what no duplicate can need any more.
#include "idem/command/purge.hpp"
// Observer: told what each call came to, for metrics and logs.
#include "idem/record/observer.hpp"

// ---- What all of it stands on.

// Error and its kin, sorted by what the caller does next.
#include "idem/base/error.hpp"
// Record, its states, Lease, and the evidence that settles an UNKNOWN one.
#include "idem/record/record.hpp"
// Reservation: what reserve() answers.
#include "idem/record/reservation.hpp"
// IdempotencyStore: one transaction's view of the records, and what a store of one's own derives from.
#include "idem/record/store.hpp"
// judge(): the state table as one pure function.
#include "idem/record/state_table.hpp"
// InboxOptions and Delivery; InboxStore, what an inbox of one's own derives from.
#include "idem/event/inbox_store.hpp"
// OutboxMessage and OutboxEvent; OutboxStore, what an outbox of one's own derives from.
#include "idem/event/outbox_store.hpp"
// LapsedPage: the records whose worker is gone.
#include "idem/record/lapsed.hpp"
// canonical_json(): JSON with one spelling.
#include "idem/json/canonical_json.hpp"
// Uuid, versions 4, 7 and 8.
#include "idem/base/uuid.hpp"
// TimePoint and Clock.
#include "idem/base/clock.hpp"
// IDEM_VERSION_MAJOR, IDEM_VERSION_MINOR, IDEM_VERSION_PATCH.
#include "idem/base/version.hpp"
