// A client's intent in a file, so that a client that died comes back with the same key.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "idem/http.hpp"

namespace payments {

class FileDescriptor;

/// The file holds the request's body, the token too: only its owner may read it. It says whose the intent is as well: with
/// another principal its key would be another payment's. `payments intent 1 NAME`, a line feed, then what Intent::save()
/// makes. Throws std::runtime_error where the system refuses something.
///
/// One client's at a time: from load() or create() on it is locked until the object is gone, or the process. Not thread-safe.
class IntentFile {
 public:
  struct Saved {
    std::string principal;
    idem::http::Intent intent;
  };

  explicit IntentFile(std::string path);
  IntentFile(const IntentFile&) = delete;
  IntentFile& operator=(const IntentFile&) = delete;
  ~IntentFile();

  /// Empty where there is no file. Throws idem::InvalidArgument where it holds no intent, std::runtime_error where another
  /// client has it.
  [[nodiscard]] std::optional<Saved> load();
  /// On the disk when it returns, or there is no file. Refused where there is one: nobody's intent is replaced.
  void create(const Saved& saved);
  /// The one that was loaded or created.
  void remove();

 private:
  std::string path_;
  std::unique_ptr<FileDescriptor> locked_;
};

}  // namespace payments
