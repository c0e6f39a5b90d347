// A client's intent in a file, so that a client that died comes back with the same key.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "idem/http/client.hpp"

namespace payments {

/// The file holds the request's body, the token too: only its owner may read it. Throws std::runtime_error where the system
/// refuses something.
class IntentFile {
 public:
  explicit IntentFile(std::string path) : path_{std::move(path)} {}

  /// Empty where there is no file. Throws idem::InvalidArgument where it holds no intent.
  [[nodiscard]] std::optional<idem::http::Intent> load() const;
  /// On the disk when it returns, or there is no file. Refused where there is one: nobody's intent is replaced.
  void create(const idem::http::Intent& intent) const;
  void remove() const;

 private:
  std::string path_;
};

}  // namespace payments
