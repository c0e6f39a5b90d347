#include "acquirer_at.hpp"

#include <memory>

#include "acquirer_client.hpp"

namespace payments {

AskAcquirer acquirer_at(std::string_view url) {
  // Shared, as a function is copied.
  const auto client = std::make_shared<const AcquirerClient>(url);
  return [client](const std::string& key, const Charge& charge, std::chrono::milliseconds deadline) {
    return client->charge(key, charge, deadline);
  };
}

}  // namespace payments
