// Reads what clients send.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace company {

/// The request is refused (400). Says what is wrong with it, without any of its content.
class BadRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws BadRequest where it is not 1 to 255 visible ASCII characters.
void check_key(std::string_view key);

/// Throws BadRequest where it is no JSON object.
[[nodiscard]] nlohmann::json read_object(std::string_view body);

/// A member of 1 to 255 bytes. Throws BadRequest for another, and where there is none.
[[nodiscard]] std::string text(const nlohmann::json& object, const char* name);

/// A member that is an integer from 1 to 2^63 - 1. Throws BadRequest as text() does.
[[nodiscard]] std::int64_t amount(const nlohmann::json& object, const char* name);

}  // namespace company
