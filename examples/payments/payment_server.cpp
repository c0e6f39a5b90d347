#include "payment_server.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>
#include <vector>

#include "bearer.hpp"
#include "connection_of.hpp"
#include "demo_fault.hpp"
#include "first_line.hpp"
#include "idem/http.hpp"
#include "log.hpp"
#include "page_files.hpp"
#include "payment_responses.hpp"

namespace payments {
namespace {

// Each request that waits for the acquirer has one, and each connection on which none has come yet.
constexpr std::size_t threads = 64;

constexpr std::size_t longest_body = 65536;
// Where a body has no end that could be waited for.
constexpr std::size_t most_read = 16 * longest_body;

void send(httplib::Response& out, const idem::Response& response) {
  out.status = response.status;
  std::string type;
  for (const idem::Header& header : response.headers) {
    if (header.name == "Content-Type") {
      type = header.value;
    } else {
      out.set_header(header.name, header.value);
    }
  }
  // RFC 9110, 15.5.2.
  if (response.status == 401) out.set_header("WWW-Authenticate", "Bearer");
  out.set_content(std::string{idem::body_text(response)}, type);
}

// Empty where it is too long, or did not come whole: then the library has set the status. What is too long is read
// all the same, or the client, which is still sending, would see a lost connection and no answer; but it is not kept,
// and beyond 16 times the longest that is what becomes of it. The library's own limit counts no chunks.
std::optional<std::string> body_of(const httplib::Request& request, httplib::Response& response,
                                   const httplib::ContentReader& read) {
  std::string body;
  // Or the library would wait for the connection's end.
  if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) return body;
  std::size_t come = 0;
  const bool whole = read([&](const char* data, std::size_t size) {
    body.append(data, std::min(size, longest_body + 1 - body.size()));
    come += size;
    return come <= most_read;
  });
  if (body.size() > longest_body) {
    send(response, status_problem(413));
    return std::nullopt;
  }
  if (!whole) return std::nullopt;
  return body;
}

std::string principal_in(const httplib::Request& request) {
  // Of two, nobody can tell which one a proxy has checked.
  if (request.get_header_value_count("Authorization") != 1) return {};
  return principal_of(request.get_header_value("Authorization"));
}

// The first of two would hide the second.
std::vector<std::string_view> key_lines(const httplib::Request& request) {
  std::vector<std::string_view> lines;
  const auto [begin, end] = request.headers.equal_range("Idempotency-Key");
  for (auto line = begin; line != end; ++line) lines.emplace_back(line->second);
  return lines;
}

// What a path can be asked for, as the header Allow has it; empty for one that is not there.
std::string_view methods_of(std::string_view path) {
  if (path == "/payments") return "POST";
  if (path == "/healthz" || path.starts_with("/payments/")) return "GET, HEAD";
  return {};
}

// What the library refuses by itself: an unknown path, a method that it does not have, a body that does not come whole.
void refuse(const httplib::Request& request, httplib::Response& response) {
  const std::string_view methods = methods_of(request.path);
  const bool allowed = methods.find(request.method) != std::string_view::npos;
  if (!methods.empty() && !allowed) {
    send(response, status_problem(405));
    response.set_header("Allow", std::string{methods});
  } else {
    send(response, status_problem(response.status));
  }
}

// Empty where there is no such fault, or more than one.
std::optional<DemoFault> fault_in(const httplib::Request& request) {
  const std::size_t lines = request.get_header_value_count(demo_fault_header);
  if (lines == 0) return DemoFault::none;
  if (lines > 1) return std::nullopt;
  return demo_fault_named(request.get_header_value(demo_fault_header));
}

idem::Response no_such_fault() {
  return idem::http::problem_response(idem::http::Problem::request_refused,
                                      {.status = 400, .detail = "there is no such Demo-Fault"});
}

}  // namespace

PaymentServer::PaymentServer(const PaymentEndpoint& endpoint, const DemoEndpoint* demo) {
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the library owns what this makes
  server_.new_task_queue = [] { return new httplib::ThreadPool{threads}; };
  // One request for each connection: the library leaves a GET's body unread, and would take it for the next request.
  server_.set_keep_alive_max_count(1);
  // How long a connection on which nothing comes may hold up the end.
  server_.set_keep_alive_timeout(1);

  // The library cuts every answer to the request's ranges, or makes it a 416, a POST's and its replay's too. Nobody needs any.
  server_.set_pre_routing_handler([](const httplib::Request& request, httplib::Response&) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the library made it not const
    const_cast<httplib::Request&>(request).ranges.clear();
    return httplib::Server::HandlerResponse::Unhandled;
  });

  server_.Post("/payments", [&endpoint, demo](const httplib::Request& request, httplib::Response& response,
                                              const httplib::ContentReader& read) {
    const auto body = body_of(request, response, read);
    if (!body) return;
    const auto fault = demo != nullptr ? fault_in(request) : DemoFault::none;
    if (!fault) return send(response, no_such_fault());
    const PaymentEndpoint& pays = fault == DemoFault::kill_after_approval ? demo->doomed() : endpoint;
    send(response, pays.pay(principal_in(request), key_lines(request),
                            request.get_header_value("Content-Type"), *body));
    // Nothing of the answer can be written then.
    if (fault == DemoFault::drop_answer) shutdown(examples::connection_of(request), SHUT_RDWR);
  });
  server_.Get("/payments/([^/]+)", [&endpoint](const httplib::Request& request, httplib::Response& response) {
    send(response, endpoint.get(principal_in(request), request.matches[1].str()));
  });
  server_.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", "text/plain");
  });
  if (demo != nullptr) serve_page(*demo);
  server_.set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, const std::exception_ptr& thrown) {
        log("a request failed: " + first_line(thrown));
        send(response, status_problem(500));
      });
  server_.set_error_handler(
      httplib::Server::Handler{[](const httplib::Request& request, httplib::Response& response) {
        if (!response.has_header("Content-Type")) refuse(request, response);
      }});
}

void PaymentServer::serve_page(const DemoEndpoint& demo) {
  for (const PageFile& file : page_files()) {
    server_.Get(file.path, [&file](const httplib::Request&, httplib::Response& response) {
      response.set_header("Content-Security-Policy", page_policy);
      response.set_header("X-Content-Type-Options", "nosniff");
      response.set_header("Referrer-Policy", "no-referrer");
      response.set_header("Cache-Control", "no-cache");
      response.set_content(file.content.data(), file.content.size(), file.type);
    });
  }
  server_.Get("/demo/state", [&demo](const httplib::Request& request, httplib::Response& response) {
    response.set_header("Cache-Control", "no-store");
    send(response, demo.state(principal_in(request)));
  });
  server_.Post("/demo/payments/([^/]+)/redeliveries",
               [&demo](const httplib::Request& request, httplib::Response& response,
                       const httplib::ContentReader& read) {
                 // It has none, or one that says nothing.
                 if (!body_of(request, response, read)) return;
                 send(response, demo.redeliver(principal_in(request), request.matches[1].str()));
               });
}

void PaymentServer::start() {
  answering_ = std::thread{[this] {
    server_.listen_after_bind();
    ended_ = true;
    if (stopping_) return;
    log("cannot accept connections any more");
    std::_Exit(1);
  }};
}

PaymentServer::~PaymentServer() {
  if (!answering_.joinable()) return;
  stopping_ = true;
  // The library forgets a stop that comes before it has begun, and is not running either once it has failed.
  while (!server_.is_running() && !ended_) std::this_thread::yield();
  server_.stop();
  answering_.join();
}

}  // namespace payments
