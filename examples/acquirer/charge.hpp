// What is asked of the acquirer, and what it has done.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace acquirer {

using TimePoint = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

/// What a client asks for, beside its key. All of it is compared where a key comes again.
struct Charge {
  std::int64_t amount_cents = 0;
  std::string currency;
  std::string payment_method_token;
  std::string reference;

  friend bool operator==(const Charge&, const Charge&) = default;
};

enum class Outcome { approved, declined };

[[nodiscard]] std::string_view name(Outcome outcome);

/// A charge that took effect.
struct Entry {
  std::string charge_id;
  std::string key;
  std::int64_t amount_cents = 0;
  std::string currency;
  std::string reference;
  Outcome outcome = Outcome::declined;
  TimePoint at;
  std::string
      parameters;  ///< The digest of its parameters, under its own charge id. The token is kept nowhere.
};

/// Makes the entry of a charge, with an id of its own.
[[nodiscard]] Entry enter(std::string key, const Charge& charge, Outcome outcome, TimePoint at);

/// Was the entry made of these parameters?
[[nodiscard]] bool made_of(const Entry& entry, const Charge& charge);

/// `2026-01-31T23:59:59.000001Z`
[[nodiscard]] std::string rfc3339(TimePoint time);
[[nodiscard]] std::optional<TimePoint> from_rfc3339(const std::string& text);

}  // namespace acquirer
