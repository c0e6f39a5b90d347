#include "idem/settlement/apply_repair.hpp"

#include "settlement/settlement_time.hpp"

namespace idem {
inline namespace v0 {

std::string_view to_string(Repaired repaired) noexcept {
  switch (repaired) {
    case Repaired::applied:
      return "applied";
    case Repaired::done_before:
      return "done_before";
    case Repaired::settled_already:
      return "settled_already";
    case Repaired::left:
      return "left";
  }
  return "?";
}

namespace detail {

Request repair_request(const Repair& repair) {
  // The key says all that the repair is.
  return {{repair.key.principal, "idem repair", repair.repair_key},
          Fingerprinter{}({.method = "REPAIR",
                           .operation = repair.key.operation,
                           .query = {},
                           .content_type = "text/plain",
                           .body = repair.repair_key})};
}

Resolution repair_resolution(const Repair& repair, const Record& record, const Decision& decision) {
  const bool charged = repair.as == RepairAs::charged;
  if (charged != (decision.state() == State::completed)) {
    throw InvalidArgument{"a repair as " + std::string{to_string(repair.as)} +
                          ": the operation's finish() decided otherwise than the settlement"};
  }
  Resolution resolution{.who = repair.queued_by,
                        .why = "reconciliation: the settlement says " + std::string{to_string(repair.as)}};
  if (charged) {
    // What is an older record's is refused by the store.
    if (repair.entry && repair.entry->at) {
      resolution.effect_at = own_time(*repair.entry->at, record.created_at).value_or(*repair.entry->at);
    }
  } else {
    resolution.no_effect =
        repair.as == RepairAs::declined ? NoEffect::stored_decline : NoEffect::closed_settlement;
  }
  return resolution;
}

CallContext repair_context(const Repair& repair, const Record& record) {
  return {{record.key, record.fingerprint, record.holder, record.generation, record.lease_until,
           record.window_until},
          How::took_over,
          repair.downstream_key,
          std::chrono::milliseconds{0}};
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
