// `payments sweep`: charges whose process is gone and whose client never came back.
#pragma once

#include <ostream>
#include <string>

#include "charge_operation.hpp"

namespace payments {

/// Makes one pass over them: asks the acquirer again where it may be asked, and leaves UNKNOWN the others. Delivers the
/// events that nobody has delivered. Writes `{"sweep":{"lapsed":N,"settled":N,"unknown":N,"passed_over":N,"failed":N}}`, and for
/// each failed one why, a line on `errors`. Creates the tables where they are missing. May run beside other passes and
/// runs.
///
/// True where none failed. Throws what run() throws.
[[nodiscard]] bool sweep(const std::string& database_url, const Charging& charging, std::ostream& answers,
                         std::ostream& errors);

}  // namespace payments
