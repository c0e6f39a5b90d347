#include "conformance/fixture.hpp"

#include <utility>

namespace idem::conformance {

Request payment_request(std::string key, char content) {
  const Fingerprint fingerprint = Fingerprinter{}({.method = "POST",
                                                   .operation = "/payments",
                                                   .query = {},
                                                   .content_type = "text/plain",
                                                   .body = {&content, 1}});
  return {{"alice", "POST /payments", std::move(key)}, fingerprint};
}

std::optional<Record> Conformance::find(const Request& of) {
  const auto unit = fixture.begin();
  return backend().store(unit->transaction())->find(of.key);
}

}  // namespace idem::conformance
