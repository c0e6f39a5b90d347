#include "server.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "connection_of.hpp"
#include "request.hpp"

namespace company {
namespace {

// Each request that hangs has a thread to itself, and so has each connection that is kept open.
constexpr std::size_t threads = 256;

constexpr std::size_t longest_body = 65536;

constexpr const char* json_type = "application/json";

std::string error(const std::string& what) {
  return nlohmann::json{{"error", what}}.dump();
}

// Until the client leaves, so that clients that have given up hold no thread.
void answer_never(const httplib::Request& request) {
  const int connection = examples::connection_of(request);
  if (connection < 0) return;
  pollfd left{connection, POLLRDHUP, 0};
  while (poll(&left, 1, -1) < 0 && errno == EINTR) {
  }
  // One that left by half could still read; now nothing can be written, whatever the library does next.
  shutdown(connection, SHUT_RDWR);
}

void deliver(const Answer& answer, const httplib::Request& request, httplib::Response& response) {
  if (answer.delivery == Delivery::never) return answer_never(request);
  response.status = answer.status;
  if (answer.delivery == Delivery::whole) return response.set_content(answer.body, json_type);
  response.set_content_provider(answer.body.size(), json_type,
                                [half = answer.body.substr(0, answer.body.size() / 2)](
                                    std::size_t, std::size_t, httplib::DataSink& sink) {
                                  sink.write(half.data(), half.size());
                                  return false;
                                });
}

std::string key_of(const httplib::Request& request) {
  if (request.get_header_value_count("Idempotency-Key") != 1) {
    throw BadRequest{"there must be one Idempotency-Key"};
  }
  std::string key = request.get_header_value("Idempotency-Key");
  check_key(key);
  return key;
}

// Answers what a handler threw.
void failed(const std::string& program, httplib::Response& response, const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const BadRequest& refused) {
    response.status = 400;
    response.set_content(error(refused.what()), json_type);
  } catch (const std::exception& failure) {
    // A judge that does not know what it has written must not go on.
    std::cerr << program << ": " << failure.what() << '\n';
    std::_Exit(1);
  }
}

}  // namespace

Server::Server(const Company& company, Book& book) : book_{book} {
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the library owns what this makes
  server_.new_task_queue = [] { return new httplib::ThreadPool{threads}; };
  server_.set_payload_max_length(longest_body);

  for (const auto& [path, read] : company.commands) {
    server_.Post(path, [this, &read = read](const httplib::Request& request, httplib::Response& response) {
      // The library refuses by Content-Length alone, and a chunked body has none.
      if (request.body.size() > longest_body) {
        response.status = 413;
        return response.set_content(error("refused"), json_type);
      }
      const std::string key = key_of(request);
      deliver(book_.carry_out(key, read(request.body)), request, response);
    });
  }
  server_.Get("/ledger", [this](const httplib::Request&, httplib::Response& response) {
    response.set_content(book_.ledger(), json_type);
  });
  server_.Post("/control", [this](const httplib::Request& request, httplib::Response& response) {
    response.set_content(book_.control(request.body), json_type);
  });
  server_.set_exception_handler([&program = company.words.program](
                                    const httplib::Request&, httplib::Response& response,
                                    const std::exception_ptr& thrown) { failed(program, response, thrown); });
  // For what the library refuses by itself: an unknown path, a body that is too long.
  server_.set_error_handler(
      httplib::Server::Handler{[](const httplib::Request&, httplib::Response& response) {
        if (!response.has_header("Content-Type")) response.set_content(error("refused"), json_type);
      }});
}

int Server::listen(const examples::ListenAddress& address) {
  return listener_.listen(address);
}

void Server::serve() {
  server_.listen_after_bind();
}

}  // namespace company
