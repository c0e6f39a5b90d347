// A company's HTTP side.
#pragma once

#include <httplib.h>

#include "book.hpp"
#include "http_listener.hpp"

namespace company {

/// Answers until the process ends: there is no way to stop it, as what hangs is meant to.
class Server {
 public:
  /// Both must outlive it.
  Server(const Company& company, Book& book);

  /// Listens; connections are taken from here on, and wait until serve() answers them. Returns the port. Throws
  /// std::runtime_error.
  [[nodiscard]] int listen(const examples::ListenAddress& address);

  /// Answers. Returns only where it cannot go on.
  void serve();

 private:
  Book& book_;
  httplib::Server server_;
  examples::HttpListener listener_{server_};
};

}  // namespace company
