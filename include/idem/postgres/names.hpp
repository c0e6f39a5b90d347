// Where idem's tables are in the caller's database.
#pragma once

#include <string>

namespace idem {
inline namespace v0 {
namespace postgres {

/// The names of idem's tables and functions. Each is 1 to 63 bytes without control characters or "$idem", taken
/// literally (it is quoted, so its case counts); otherwise InvalidArgument.
struct Names {
  /// The schema that holds them; empty for the search path's own.
  std::string schema{};
  std::string record = "idem_record";
  std::string inbox = "idem_inbox";
  std::string version_guard = "idem_version_guard";
  std::string outbox = "idem_outbox";
  std::string schema_version = "idem_schema_version";
  std::string key_hash = "idem_key_hash";
  std::string downstream_key = "idem_downstream_key";
  std::string repair = "idem_repair";

  friend bool operator==(const Names&, const Names&) = default;
};

}  // namespace postgres
}  // namespace v0
}  // namespace idem
