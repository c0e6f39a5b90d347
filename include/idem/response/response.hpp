// The first answer, as it is stored and replayed: status, chosen headers, body; every byte of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace idem {
inline namespace v0 {

/// One stored header. The name holds no ':' and neither part holds CR, LF or NUL; otherwise settling is refused
/// with InvalidArgument.
struct Header {
  std::string name;
  std::string value;
  friend bool operator==(const Header&, const Header&) = default;
};

/// What a replay returns, verbatim. The status is the caller's number (an HTTP status, or whatever it answers with);
/// the order and spelling of headers are kept; an empty body stays an empty body.
struct Response {
  int status = 0;
  std::vector<Header> headers;
  std::vector<std::byte> body;
  friend bool operator==(const Response&, const Response&) = default;
};

/// Makes a response from a text body, without headers.
[[nodiscard]] Response text_response(int status, std::string_view body);

/// The body's bytes as text. Valid while `response` lives and its body is not changed.
[[nodiscard]] std::string_view body_text(const Response& response);

}  // namespace v0
}  // namespace idem
