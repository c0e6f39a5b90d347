// `payments repair`: payments that nobody knew of, and that a settlement tells of.
#pragma once

#include <ostream>
#include <string>

namespace payments {

/// Makes one pass over the repairs that `idemctl reconcile --queue` has queued: each payment is decided as the settlement says,
/// with its event and its stored answer. Delivers the events that nobody has delivered. Writes
/// `{"repair":{"queued":N,"applied":N,"settled_already":N,"passed_over":N,"failed":N}}`, and for each failed one why, a line on `errors`. Creates the
/// tables where they are missing. May run beside other passes, sweeps and runs.
///
/// True where none failed; those that did stay in the queue. Throws what run() throws.
[[nodiscard]] bool repair(const std::string& database_url, std::ostream& answers, std::ostream& errors);

}  // namespace payments
