#include "request.hpp"

#include <algorithm>
#include <limits>

namespace company {
namespace {

using nlohmann::json;

const json& member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw BadRequest{std::string{name} + " is missing"};
  return *found;
}

}  // namespace

std::string text(const json& object, const char* name) {
  const json& value = member(object, name);
  if (!value.is_string()) throw BadRequest{std::string{name} + " must be a string"};
  const auto& content = value.get_ref<const std::string&>();
  if (content.empty() || content.size() > 255)
    throw BadRequest{std::string{name} + " must have 1 to 255 bytes"};
  return content;
}

std::int64_t amount(const json& object, const char* name) {
  const json& value = member(object, name);
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
  const bool fits =
      value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 && value.get<std::uint64_t>() <= largest;
  if (!fits) throw BadRequest{std::string{name} + " must be an integer from 1 to " + std::to_string(largest)};
  return value.get<std::int64_t>();
}

void check_key(std::string_view key) {
  const bool visible = std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~'; });
  if (key.empty() || key.size() > 255 || !visible) {
    throw BadRequest{"Idempotency-Key must have 1 to 255 visible ASCII characters"};
  }
}

json read_object(std::string_view body) {
  json object = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) throw BadRequest{"the body must be a JSON object"};
  return object;
}

}  // namespace company
