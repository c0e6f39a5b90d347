// idem behind an event loop: the loop never waits for the database, and workers never touch what is the loop's. What stands
// between two equal rulers is in docs/, word for word.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "session.hpp"

// ---- docs/http.md: event loop ----------------------------------------------------
#include <functional>
#include <idem/http.hpp>
#include <idem/idem.hpp>
#include <idem/postgres.hpp>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <string_view>
#include <vector>

// ---- docs/http.md: event loop ----------------------------------------------------

namespace {

// Connections that threads share. Yours may well be another one.
class Pool {
 public:
  Pool(std::string url, std::size_t most) : url_{std::move(url)}, idle_(most) {}

  struct GiveBack {
    Pool* pool;
    void operator()(pqxx::connection* taken) const {
      pool->give_back(std::unique_ptr<pqxx::connection>{taken});
    }
  };
  using Connection = std::unique_ptr<pqxx::connection, GiveBack>;

  // Waits where all are taken. One that was lost is not lent again, nor one that the server has ended meanwhile.
  Connection take() {
    std::unique_ptr<pqxx::connection> taken;
    {
      std::unique_lock lock{mutex_};
      given_back_.wait(lock, [this] { return !idle_.empty(); });
      taken = std::move(idle_.back());
      idle_.pop_back();
    }
    try {
      if (!taken || examples::lost(*taken)) taken = examples::connect(url_);
    } catch (...) {
      give_back(nullptr);
      throw;
    }
    return {taken.release(), GiveBack{this}};
  }

 private:
  void give_back(std::unique_ptr<pqxx::connection> taken) {
    {
      const std::lock_guard lock{mutex_};
      idle_.push_back(std::move(taken));
    }
    given_back_.notify_one();
  }

  std::string url_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<pqxx::connection>> idle_;  // Null where it is still to be made.
};

// ---- docs/external-calls.md: pool ------------------------------------------------
class Unit {
 public:
  explicit Unit(Pool& pool) : connection_{pool.take()}, work_{*connection_} {}
  pqxx::work& transaction() { return work_; }
  void commit() { work_.commit(); }

 private:
  Pool::Connection connection_;  // goes back to the pool when it is destroyed
  pqxx::work work_;              // ends before that
};
// ---- docs/external-calls.md: pool ------------------------------------------------

// What is posted runs on the thread that runs the loop, which would also wait for its sockets. Yours is asio, libuv, epoll.
class Loop {
 public:
  Loop() {
    if (wakes_ < 0) throw std::runtime_error{"there is no eventfd"};
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() { close(wakes_); }

  // From any thread.
  void post(std::function<void()> work) {
    {
      const std::lock_guard lock{mutex_};
      posted_.push_back(std::move(work));
    }
    const std::uint64_t one = 1;
    if (write(wakes_, &one, sizeof one) != sizeof one) std::terminate();
  }

  // Until it is stopped by what it runs.
  void run() {
    while (!stopped_) {
      pollfd ready{wakes_, POLLIN, 0};
      std::uint64_t woken = 0;
      if (poll(&ready, 1, -1) != 1 || read(wakes_, &woken, sizeof woken) != sizeof woken) continue;
      std::deque<std::function<void()>> works;
      {
        const std::lock_guard lock{mutex_};
        works.swap(posted_);
      }
      for (const auto& work : works) work();
    }
  }
  void stop() { stopped_ = true; }

 private:
  int wakes_ = eventfd(0, EFD_CLOEXEC);
  bool stopped_ = false;
  std::mutex mutex_;
  std::deque<std::function<void()>> posted_;
};

// Threads that may block.
class Workers {
 public:
  Workers(std::size_t threads, std::size_t longest_queue) : longest_queue_{longest_queue} {
    while (threads_.size() < threads) {
      threads_.emplace_back([this](const std::stop_token& stop) { keep_working(stop); });
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  // What has begun is ended; what waits is dropped, as if it had never come.
  ~Workers() = default;

  // False where too many wait already.
  bool try_post(std::function<void()> work) {
    {
      const std::lock_guard lock{mutex_};
      if (waiting_.size() >= longest_queue_) return false;
      waiting_.push_back(std::move(work));
    }
    comes_.notify_one();
    return true;
  }

 private:
  void keep_working(const std::stop_token& stop) {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock{mutex_};
        if (!comes_.wait(lock, stop, [this] { return !waiting_.empty(); }) || stop.stop_requested()) return;
        work = std::move(waiting_.front());
        waiting_.pop_front();
      }
      work();
    }
  }

  std::size_t longest_queue_;
  std::mutex mutex_;
  std::condition_variable_any comes_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::jthread> threads_;  // Last: ends before the others do.
};

idem::Response deposit(pqxx::work& tx, const std::string& owner) {
  tx.exec("INSERT INTO deposit VALUES (" + tx.quote(owner) + ")");
  return idem::text_response(201, "deposited");
}

// ---- docs/http.md: event loop ----------------------------------------------------
// A request as the loop has read it. It owns all that a RequestView points into, and lives until its answer is sent.
struct Exchange {
  std::string principal;
  std::vector<std::string> key_lines;
  std::string body;
  std::function<void(const idem::Response&)> send;  // on the loop's thread: the connection is the loop's
};

class Deposits {
 public:
  Deposits(Loop& loop, Pool& pool, std::size_t threads, std::size_t longest_queue)
      : loop_{loop}, pool_{pool}, workers_{threads, longest_queue} {}

  // On the loop's thread; returns at once.
  void on_request(const std::shared_ptr<const Exchange>& exchange) {
    const bool taken = workers_.try_post([this, exchange = exchange]() mutable {
      idem::Response response = answer(*exchange);
      // Moved, so that the loop's thread is the one that lets go of it.
      loop_.post(
          [exchange = std::move(exchange), response = std::move(response)] { exchange->send(response); });
    });
    // Nothing was looked up, so the client may come back with its key.
    if (!taken) exchange->send(idem::text_response(503, "too many at once"));
  }

 private:
  // On a worker's thread. Nothing may leave it but a response: nobody would catch it.
  [[nodiscard]] idem::Response answer(const Exchange& exchange) const {
    try {
      const std::vector<std::string_view> key_lines{exchange.key_lines.begin(), exchange.key_lines.end()};
      const idem::http::RequestView view{.method = "POST",
                                         .operation = "POST /deposits",
                                         .content_type = "application/json",
                                         .body = exchange.body,
                                         .idempotency_key = key_lines};
      const auto begin = [this] { return std::make_unique<Unit>(pool_); };
      return boundary_.handle(
          exchange.principal, view, [&](const idem::Request& request, idem::http::Answer& answer) {
            return idem::transact(backend_, begin, request, [&](pqxx::work& tx, const idem::Lease&) {
              return answer.decide(deposit(tx, exchange.principal));
            });
          });
    } catch (const std::exception&) {  // log it, without the request's content
      return idem::text_response(500, "failed");
    }
  }

  Loop& loop_;
  Pool& pool_;
  idem::http::Boundary boundary_;
  idem::postgres::Backend backend_;
  // Last, so that its threads end before the rest goes: what is posted points to it. Workers that others use too
  // have to end before this does.
  Workers workers_;
};
// ---- docs/http.md: event loop ----------------------------------------------------

bool is_replay(const idem::Response& response) {
  return std::ranges::any_of(response.headers,
                             [](const idem::Header& header) { return header.name == "Idempotent-Replayed"; });
}

}  // namespace

// event_loop URL: 20 deposits at the same time, each of them sent again once it is answered.
int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: event_loop URL\n";
    return 2;
  }
  constexpr std::size_t intents = 20;
  Pool pool{argv[1], 2};  // NOLINT(cppcoreguidelines-pro-bounds-pointer-arithmetic)
  {
    Unit setup{pool};
    idem::postgres::install_schema(setup.transaction());
    setup.transaction().exec(std::string{"CREATE TABLE IF NOT EXISTS deposit (owner text NOT NULL)"});
    setup.commit();
  }

  Loop loop;
  Deposits deposits{loop, pool, 4, 2 * intents};
  const std::thread::id its_thread = std::this_thread::get_id();
  int first_answers = 0;
  std::size_t asked_again = 0;
  int replays = 0;
  int elsewhere = 0;
  for (std::size_t i = 1; i <= intents; ++i) {
    auto first = std::make_shared<Exchange>(Exchange{"ann", {"tap-" + std::to_string(i)}, "{}", {}});
    auto again = std::make_shared<Exchange>(*first);
    again->send = [&](const idem::Response& response) {
      if (std::this_thread::get_id() != its_thread) ++elsewhere;
      if (is_replay(response)) ++replays;
      if (++asked_again == intents) loop.stop();
    };
    first->send = [&, again](const idem::Response& response) {
      if (std::this_thread::get_id() != its_thread) ++elsewhere;
      if (response.status == 201) ++first_answers;
      deposits.on_request(again);
    };
    loop.post([&deposits, first] { deposits.on_request(first); });
  }
  loop.run();

  Unit check{pool};
  const auto rows = check.transaction().exec(std::string{"SELECT count(*) FROM deposit"});
  std::cout << first_answers << " answers, " << replays << " replays, " << elsewhere
            << " of them not on the loop's thread; " << rows[0][0].as<int>() << " deposits\n";
  return 0;
}
