// What the boundary has to know of an HTTP request, from whatever server library it comes.
#pragma once

#include <span>
#include <string_view>

namespace idem {
inline namespace v0 {
namespace http {

/// One request. Views: what they point to must live during the call only.
struct RequestView {
  std::string_view method{};
  /// The command's stable name or route, such as `POST /payments`, not the raw URL.
  std::string_view operation{};
  /// The query parameters that make the operation, in an order that the caller fixes.
  std::string_view query{};
  /// The header's value. Only its class counts: parameters and letter case do not.
  std::string_view content_type{};
  std::string_view body{};
  /// Each line of the header `Idempotency-Key` as it was received, without the name; several lines must stay several.
  std::span<const std::string_view> idempotency_key{};
};

}  // namespace http
}  // namespace v0
}  // namespace idem
