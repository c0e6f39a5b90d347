// Whoever ignores a reservation works without holding the key.
// expect: (nodiscard|unused-result)
#include <idem/command/outcome.hpp>
#include <idem/record/store.hpp>

void reserve(idem::IdempotencyStore& store, const idem::Request& request) {
#ifndef MUST_NOT_COMPILE
  const idem::Reservation reservation =
#endif
      store.reserve(request.key, request.fingerprint);
#ifndef MUST_NOT_COMPILE
  static_cast<void>(reservation.index());
#endif
}
