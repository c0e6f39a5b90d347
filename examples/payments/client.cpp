#include "client.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <variant>

#include "bearer.hpp"
#include "idem/http.hpp"
#include "intent_file.hpp"
#include "keyed_post.hpp"

namespace payments {
namespace {

using idem::http::Intent;
using idem::http::RetryAfter;
using idem::http::Stop;

// Longer than the service takes where its acquirer does not answer.
constexpr std::chrono::seconds patience{30};

std::string body_of(const PaymentBody& payment) {
  try {
    return nlohmann::ordered_json{{"amount_cents", payment.order.amount_cents},
                                  {"currency", payment.order.currency},
                                  {"offering_id", payment.order.offering_id},
                                  {"payment_method_token", payment.payment_method_token}}
        .dump();
  } catch (const nlohmann::json::exception&) {  // Whose message would tell the bytes.
    throw std::invalid_argument{"the payment is not UTF-8"};
  }
}

Intent restored_or_new(IntentFile& file, const std::string& principal,
                       const std::optional<PaymentBody>& payment) {
  if (auto saved = file.load()) {
    if (saved->principal != principal) {
      throw std::invalid_argument{
          "the intent is another principal's: there its key would be another payment"};
    }
    if (payment) throw std::invalid_argument{"the intent is there already: its payment cannot be given"};
    return std::move(saved->intent);
  }
  if (!payment) throw std::invalid_argument{"there is no intent yet: give its payment"};
  Intent made = Intent::mint(body_of(*payment));
  file.create({principal, made});
  return made;
}

idem::http::ReplyView view_of(const examples::Received& received) {
  return {.status = received.status,
          .retry_after = received.header("Retry-After"),
          .content_type = received.header("Content-Type"),
          .idempotency_key = received.header("Idempotency-Key"),
          .body = received.body,
          .replayed = received.header("Idempotent-Replayed") == "true"};
}

// One attempt; nothing where there was no answer.
std::optional<examples::Received> send(const examples::KeyedPost& post, const Intent& intent) {
  try {
    return post.send("/payments", intent.header(), intent.body(), patience);
  } catch (const examples::NotKnown&) {
    return std::nullopt;
  }
}

std::string_view reason(Stop::Why why) {
  switch (why) {
    case Stop::Why::mismatch:
      return "the key was used for another payment";
    case Stop::Why::refused:
      return "the request was refused";
    case Stop::Why::forbidden:
      return "the principal was refused";
    case Stop::Why::exhausted:
      return "it is not known yet whether it was paid; run this again";
    case Stop::Why::unexpected:
      break;
  }
  return "this is no such service";
}

void write(std::ostream& answers, const Intent& intent, int tries,
           const std::optional<examples::Received>& received) {
  nlohmann::ordered_json line{{"key", intent.key()}, {"status", nullptr}};
  if (received) line["status"] = received->status;
  line["replayed"] = received && received->header("Idempotent-Replayed") == "true";
  line["tries"] = tries;
  line["body"] = nullptr;
  if (received) line["body"] = received->body;
  answers << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n' << std::flush;
  if (!answers) throw std::runtime_error{"the answer cannot be written"};
}

}  // namespace

int client(const ClientOptions& options, std::ostream& answers, std::ostream& errors) {
  const std::string authorization = "Bearer demo-" + options.principal;
  if (principal_of(authorization).empty()) throw std::invalid_argument{"--principal is no name"};
  const examples::KeyedPost post{"the service", options.url, {{"Authorization", authorization}}};
  IntentFile file{options.intent};
  const Intent intent = restored_or_new(file, options.principal, options.payment);

  // Where the payment was not given, it is an earlier run's.
  idem::http::ClientRule rule{{.restored = !options.payment}};
  for (;;) {
    const auto received = send(post, intent);
    const idem::http::Advice advice = received ? rule.after(view_of(*received)) : rule.after_no_answer();
    if (const auto* again = std::get_if<RetryAfter>(&advice)) {
      errors << "payments: try " << rule.tries() << ": "
             << (received ? "status " + std::to_string(received->status) : "no answer") << "; again in "
             << again->delay.count() << " ms\n"
             << std::flush;
      std::this_thread::sleep_for(again->delay);
      continue;
    }
    write(answers, intent, rule.tries(), received);
    if (const auto* stop = std::get_if<Stop>(&advice)) {
      errors << "payments: " << reason(stop->why) << '\n';
      const bool known = stop->why != Stop::Why::exhausted && stop->why != Stop::Why::unexpected;
      return known ? 3 : 1;
    }
    // Not earlier: until the answer is told, it can be had again.
    file.remove();
    return 0;
  }
}

}  // namespace payments
