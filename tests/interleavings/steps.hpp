// The steps that scenarios are made of: one public call each, and the business write that belongs to it.
#pragma once

#include <string>

#include "idem/record/options.hpp"
#include "interleavings/explorer.hpp"

namespace idem::interleavings {

// `body` stands for the request's content: another body, another fingerprint.
[[nodiscard]] Step reserve(const ReserveOptions& options = {}, const std::string& body = "{}");
// All sessions' reservations of this kind carry one attempt: each settles the lost COMMIT of the others.
[[nodiscard]] Step reserve_under_one_attempt();

// These need a lease, and are left out without one.
[[nodiscard]] Step pay();
[[nodiscard]] Step complete();
[[nodiscard]] Step fail();
[[nodiscard]] Step pay_and_complete();
[[nodiscard]] Step mark_sent();
[[nodiscard]] Step mark_unknown();
[[nodiscard]] Step renew();
[[nodiscard]] Step lapse();
// Takes the business rows back, as release() asks for.
[[nodiscard]] Step release();

[[nodiscard]] Step find();
// With the holder that find() showed, and left out where that was not UNKNOWN; COMPLETED writes the business row too.
[[nodiscard]] Step resolve(State state);

// Left out where no transaction is open.
[[nodiscard]] Step commit();
// Calls the downstream, where the commit succeeded and the lease is held.
[[nodiscard]] Step commit_and_call();
[[nodiscard]] Step rollback();

// Time passes: the stored answer expires. A transaction of its own.
[[nodiscard]] Step expire();
// Plain SQL in the session's transaction; {key} stands for the key as a quoted literal.
[[nodiscard]] Step sql(const std::string& name, const std::string& statement);
// What a purge does to this key.
[[nodiscard]] Step purge();

// The answer of a session, unlike every other session's.
[[nodiscard]] Response answer_of(const Session& session, std::int64_t generation);
// The business write, in the session's transaction.
void write_effect(Session& session, Event& event, std::int64_t generation);

}  // namespace idem::interleavings
