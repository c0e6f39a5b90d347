#include "payment_body.hpp"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "idem/idem.hpp"

namespace payments {
namespace {

using nlohmann::json;

const json& member(const json& object, const std::string& where, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw BadRequest{where + name + " is missing"};
  return *found;
}

std::string short_text(const json& object, const std::string& where, const char* name) {
  const json& value = member(object, where, name);
  if (!value.is_string()) throw BadRequest{where + name + " must be a string"};
  auto text = value.get<std::string>();
  if (text.empty() || text.size() > 255 || text.find('\0') != std::string::npos) {
    throw BadRequest{where + name + " must have 1 to 255 bytes and no NUL"};
  }
  return text;
}

std::int64_t amount(const json& object, const std::string& where, const char* name) {
  const json& value = member(object, where, name);
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 &&
                    value.get<std::uint64_t>() <= static_cast<std::uint64_t>(largest);
  if (!fits) throw BadRequest{where + name + " must be an integer from 1 to " + std::to_string(largest)};
  return value.get<std::int64_t>();
}

}  // namespace

const std::vector<std::string>& operation_members() {
  // The token is a random reference: for bodies that can hold a card number, set FingerprintOptions::hmac.
  static const std::vector<std::string> members{"amount_cents", "currency", "offering_id",
                                                "payment_method_token"};
  return members;
}

PaymentBody payment_body_in(const json& object, const std::string& where) {
  Order order{amount(object, where, "amount_cents"), short_text(object, where, "currency"),
              short_text(object, where, "offering_id")};
  return {std::move(order), short_text(object, where, "payment_method_token")};
}

PaymentBody read_payment_body(std::string_view text) {
  try {
    // Canonical first: a parser alone would take the second of two equal names, and call 1290.0 no integer.
    const json body = json::parse(idem::canonical_json(text), nullptr, /*allow_exceptions=*/false);
    // Canonical JSON is JSON, so all that a parser can still refuse is an integer beyond its doubles.
    if (body.is_discarded()) throw BadRequest{"a number is too large"};
    if (!body.is_object()) throw BadRequest{"the body must be an object"};
    return payment_body_in(body, "");
  } catch (const idem::InvalidJson& refused) {
    throw BadRequest{refused.what()};
  }
}

}  // namespace payments
