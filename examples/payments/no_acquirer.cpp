// In the place of acquirer_at.cpp in a build without cpp-httplib.
#include <stdexcept>

#include "acquirer_at.hpp"

namespace payments {

AskAcquirer acquirer_at(std::string_view /*url*/) {
  throw std::invalid_argument{"this program was built without cpp-httplib, so it can ask no acquirer"};
}

}  // namespace payments
