// The orchestrator: starts a refund, and takes it as far as it goes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "idem/idem.hpp"
#include "idem/postgres.hpp"
#include "refund.hpp"
#include "services.hpp"

namespace pqxx {
class dbtransaction;
}

namespace examples {
class Session;
}

namespace refund_saga {

/// How the refund stands.
struct Standing {
  RefundState state = RefundState::in_progress;
  Progress progress;
};

enum class Started {
  yes,      ///< By this call, or by an earlier one with the same content.
  another,  ///< The id is that of a refund of another payment or amount. Nothing was done.
};

/// Not safe to share between threads, as the session is not. Several processes may work on one refund: each step's record
/// says whose turn it is.
class Saga {
 public:
  /// All but the options must outlive it. They are for the calls, lease and deadline; the retries are for all of it.
  Saga(const idem::postgres::Backend& backend, examples::Session& session, const Services& services,
       idem::CallOptions options);

  /// Once for each refund id.
  [[nodiscard]] Started start(const Refund& refund);

  /// Makes the calls that are to be made, one after the other, until the refund is over, an answer is not known or somebody
  /// else is at it. To be called again where it is in progress then. Throws std::invalid_argument where there is no such
  /// refund.
  [[nodiscard]] Standing proceed(const std::string& refund_id);

 private:
  [[nodiscard]] Progress progress_of(const std::string& refund_id);

  const idem::postgres::Backend& backend_;
  examples::Session& session_;
  const Services& services_;
  idem::CallOptions options_;
};

}  // namespace refund_saga
