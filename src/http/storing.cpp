#include "idem/http/storing.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "http/header_name.hpp"
#include "idem/base/error.hpp"
#include "idem/response/rules.hpp"

namespace idem {
inline namespace v0 {
namespace http {
namespace {

// RFC 9110, 7.6.1, and what is about one message only.
constexpr std::array<std::string_view, 14> never_replayed{"connection",
                                                          "content-length",
                                                          "date",
                                                          "idempotency-key",
                                                          "idempotent-replayed",
                                                          "keep-alive",
                                                          "proxy-authenticate",
                                                          "proxy-connection",
                                                          "set-cookie",
                                                          "te",
                                                          "trailer",
                                                          "transfer-encoding",
                                                          "upgrade",
                                                          "retry-after"};

// Is the header among those that a header Connection names? They are about this message, whatever they are.
bool is_named_by_connection(const Header& header, const std::vector<Header>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Header& connection) {
    if (!detail::same_name(connection.name, "connection")) return false;
    std::string_view rest = connection.value;
    while (!rest.empty()) {
      const std::string_view option = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(option.size() + 1, rest.size()));
      if (detail::same_name(detail::without_space(option), header.name)) return true;
    }
    return false;
  });
}

}  // namespace

void validate(const StorePolicy& policy) {
  for (const std::string& header : policy.headers) {
    for (const std::string_view name : never_replayed) {
      if (detail::same_name(header, name)) {
        throw InvalidArgument{"the header " + std::string{name} +
                              " must not be stored: it is about one message"};
      }
    }
    if (detail::same_name(std::string_view{header}.substr(0, reserved_header_prefix.size()),
                          reserved_header_prefix)) {
      throw InvalidArgument{"headers that begin with " + std::string{reserved_header_prefix} +
                            " are idem's own"};
    }
  }
  for (const int status : policy.never) {
    if (status < 400 || status > 599) {
      throw InvalidArgument{
          "a status that is never stored must be 400 to 599: what was done is always stored"};
    }
  }
}

Disposition disposition_of(const StorePolicy& policy, int status) noexcept {
  if (std::find(policy.never.begin(), policy.never.end(), status) != policy.never.end())
    return Disposition::roll_back;
  if (status >= 500) return policy.server_error;
  return status >= 400 ? policy.client_error : Disposition::store;
}

Response storable(const StorePolicy& policy, Response response) {
  std::vector<Header> kept;
  std::copy_if(
      response.headers.begin(), response.headers.end(), std::back_inserter(kept), [&](const Header& header) {
        return std::any_of(policy.headers.begin(), policy.headers.end(),
                           [&](const std::string& name) { return detail::same_name(header.name, name); }) &&
               !is_named_by_connection(header, response.headers);
      });
  response.headers = std::move(kept);
  return response;
}

}  // namespace http
}  // namespace v0
}  // namespace idem
