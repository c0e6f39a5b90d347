// The connection that a request came on.
#pragma once

#include <httplib.h>

namespace examples {

/// Its descriptor, which the library hands to no handler: to be used while the request is being answered. -1 where the
/// connection was reset.
[[nodiscard]] int connection_of(const httplib::Request& request);

}  // namespace examples
