#include "request_line.hpp"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "idem/idem.hpp"

namespace payments {
namespace {

using nlohmann::json;

std::vector<std::string> operation_pointers() {
  std::vector<std::string> pointers;
  for (const std::string& member : operation_members()) pointers.push_back("/body/" + member);
  return pointers;
}

std::vector<std::string> used_members() {
  std::vector<std::string> members = operation_pointers();
  members.insert(members.end(), {"/principal", "/key", "/redeliver_event"});
  return members;
}

idem::FingerprintOptions fingerprint_options() {
  idem::FingerprintOptions options;
  options.include = operation_pointers();
  return options;
}

std::string text(const json& request, const char* name) {
  const auto found = request.find(name);
  if (found == request.end()) throw BadRequest{std::string{name} + " is missing"};
  if (!found->is_string()) throw BadRequest{std::string{name} + " must be a string"};
  return found->get<std::string>();
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
    idem::Key key{text(request, "principal"), std::string{operation_name}, text(request, "key")};
    idem::validate(key);

    const auto body = request.find("body");
    if (body == request.end()) throw BadRequest{"body is missing"};
    if (!body->is_object()) throw BadRequest{"body must be an object"};
    PaymentBody read = payment_body_in(*body, "body.");

    // Of the text as it came: nothing is lost on the way.
    return {{std::move(key),
             fingerprinter_({.method = "POST", .operation = "/payments", .query = "", .body = line})},
            std::move(read.order),
            std::move(read.payment_method_token),
            redelivery(request)};
  } catch (const idem::InvalidJson& refused) {
    throw BadRequest{refused.what()};
  } catch (const idem::InvalidKey& refused) {
    throw BadRequest{refused.what()};
  }
}

}  // namespace payments
