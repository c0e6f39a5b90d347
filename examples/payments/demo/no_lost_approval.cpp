// In the place of lost_approval.cpp in a build without cpp-httplib.
#include "scenes.hpp"

namespace payments::demo {

void lost_approval(Report& report, const std::string& /*database_url*/) {
  report.heading("5. Left out: the acquirer. This program was built without cpp-httplib");
}

}  // namespace payments::demo
