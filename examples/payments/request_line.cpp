#include "request_line.hpp"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "idem/error.hpp"
#include "idem/key.hpp"

namespace payments {
namespace {

using nlohmann::json;

// What makes the operation. A client's timestamp or trace id beside these would make each retry a mismatch,
// so what is not listed does not count. The token is a random reference: for bodies that can hold a card
// number, set FingerprintOptions::hmac.
std::vector<std::string> operation_members() {
  return {"/body/amount_cents", "/body/currency", "/body/offering_id", "/body/payment_method_token"};
}

std::vector<std::string> used_members() {
  std::vector<std::string> members = operation_members();
  members.insert(members.end(), {"/principal", "/key", "/redeliver_event"});
  return members;
}

idem::FingerprintOptions fingerprint_options() {
  idem::FingerprintOptions options;
  options.include = operation_members();
  return options;
}

const json& member(const json& object, const char* name, const char* path) {
  const auto found = object.find(name);
  if (found == object.end()) throw BadRequest{std::string{path} + " is missing"};
  return *found;
}

std::string text(const json& object, const char* name, const char* path) {
  const json& value = member(object, name, path);
  if (!value.is_string()) throw BadRequest{std::string{path} + " must be a string"};
  return value.get<std::string>();
}

std::string short_text(const json& object, const char* name, const char* path) {
  std::string value = text(object, name, path);
  if (value.empty() || value.size() > 255 || value.find('\0') != std::string::npos) {
    throw BadRequest{std::string{path} + " must have 1 to 255 bytes and no NUL"};
  }
  return value;
}

std::int64_t amount(const json& object, const char* name, const char* path) {
  const json& value = member(object, name, path);
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 &&
                    value.get<std::uint64_t>() <= static_cast<std::uint64_t>(largest);
  if (!fits) throw BadRequest{std::string{path} + " must be an integer from 1 to " + std::to_string(largest)};
  return value.get<std::int64_t>();
}

Redelivery redelivery(const json& request) {
  const auto found = request.find("redeliver_event");
  if (found == request.end() || *found == false) return Redelivery::none;
  if (*found == true) return Redelivery::same_event;
  if (*found == "new_id") return Redelivery::new_id;
  throw BadRequest{"redeliver_event must be true, false or \"new_id\""};
}

}  // namespace

RequestLineReader::RequestLineReader()
    : fingerprinter_{fingerprint_options()}, used_members_{used_members(), std::vector<std::string>{}} {}

PaymentRequest RequestLineReader::read(std::string_view line) const {
  try {
    // Canonical first: a parser alone would take the second of two equal names, and call 1290.0 no integer.
    const json request = json::parse(idem::canonical_json(line, fingerprinter_.json_options(), used_members_),
                                     nullptr, /*allow_exceptions=*/false);
    // Canonical JSON is JSON, so all that a parser can still refuse is an integer beyond its doubles.
    if (request.is_discarded()) throw BadRequest{"a number is too large"};
    if (!request.is_object()) throw BadRequest{"the request must be an object"};
    idem::Key key{text(request, "principal", "principal"), std::string{operation_name},
                  text(request, "key", "key")};
    idem::validate(key);

    const json& body = member(request, "body", "body");
    if (!body.is_object()) throw BadRequest{"body must be an object"};
    Order order{amount(body, "amount_cents", "body.amount_cents"),
                short_text(body, "currency", "body.currency"),
                short_text(body, "offering_id", "body.offering_id")};
    std::string token = short_text(body, "payment_method_token", "body.payment_method_token");

    // Of the text as it came: nothing is lost on the way.
    return {{std::move(key),
             fingerprinter_({.method = "POST", .operation = "/payments", .query = "", .body = line})},
            std::move(order),
            std::move(token),
            redelivery(request)};
  } catch (const idem::InvalidJson& refused) {
    throw BadRequest{refused.what()};
  } catch (const idem::InvalidKey& refused) {
    throw BadRequest{refused.what()};
  }
}

}  // namespace payments
