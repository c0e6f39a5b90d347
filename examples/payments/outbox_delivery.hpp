// Brings events of authorised payments from the outbox to the enrolment, as a relay and a broker would.
#pragma once

#include "enrolment.hpp"
#include "session.hpp"

namespace payments {

/// Delivers the event in a transaction of its own; does nothing where it was delivered before. One that the inbox cannot tell
/// from a new one any more, or that seems so old because this machine's clock is days behind, is applied: it was paid, and
/// seat and receipt are unique by themselves. Throws what the database throws.
void deliver_event(examples::Session& session, const PaymentAuthorized& event);

/// Delivers each event that nobody has delivered: that of a process which died after the payment's commit, or of a sweep.
void deliver_outbox(examples::Session& session);

}  // namespace payments
