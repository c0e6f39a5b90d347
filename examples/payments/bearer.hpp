// Who is calling.
#pragma once

#include <string>
#include <string_view>

#include "idem/idem.hpp"

namespace payments {

/// The principal that the header `Authorization` tells of; empty for nobody. A stand-in for a real authentication: the token
/// `demo-NAME` is NAME's, without any secret. NAME has 1 to 255 letters, digits and `-._~`.
[[nodiscard]] std::string principal_of(std::string_view authorization);

/// What nobody is answered: 401.
[[nodiscard]] idem::Response unauthenticated_response();

}  // namespace payments
