// Makes a server of the HTTP library listen.
#pragma once

#include <httplib.h>

#include "listen_address.hpp"

namespace examples {

/// Sets the server's socket options: those of a server that shares its port with nobody.
class HttpListener {
 public:
  /// The server must outlive it, and it the server's listening.
  explicit HttpListener(httplib::Server& server);
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;
  ~HttpListener() = default;

  /// Listens; connections are taken from here on, and wait until listen_after_bind() answers them. Returns the port. Throws
  /// std::runtime_error.
  [[nodiscard]] int listen(const ListenAddress& address);

 private:
  httplib::Server& server_;
  int listening_ = -1;
};

}  // namespace examples
