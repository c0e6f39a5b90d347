#include "idem/response/response.hpp"

#include <algorithm>
#include <iterator>

namespace idem {
inline namespace v0 {

Response text_response(int status, std::string_view body) {
  Response response{status, {}, {}};
  response.body.reserve(body.size());
  std::transform(body.begin(), body.end(), std::back_inserter(response.body),
                 [](char c) { return static_cast<std::byte>(c); });
  return response;
}

std::string_view body_text(const Response& response) {
  return {reinterpret_cast<const char*>(response.body.data()), response.body.size()};
}

}  // namespace v0
}  // namespace idem
