#include "idem/settlement/repair.hpp"

#include "base/digest.hpp"
#include "idem/base/error.hpp"
#include "settlement/settlement_time.hpp"

namespace idem {
inline namespace v0 {

std::string_view to_string(RepairAs as) noexcept {
  switch (as) {
    case RepairAs::charged:
      return "charged";
    case RepairAs::declined:
      return "declined";
    case RepairAs::not_charged:
      return "not_charged";
  }
  return "?";
}

std::optional<RepairAs> repairable_as(const Finding& finding, Settlement settlement) noexcept {
  if (!finding.ours || finding.ours->state != State::unknown) return std::nullopt;
  if (finding.kind == FindingKind::ours_only) {
    if (settlement == Settlement::closed) return RepairAs::not_charged;
    return std::nullopt;
  }
  if (finding.kind != FindingKind::theirs_only || !finding.entry) return std::nullopt;
  // Without a time nobody can tell whose it is: this record's, or an older one's under the same key.
  if (!finding.entry->at || !detail::own_time(*finding.entry->at, finding.ours->created_at))
    return std::nullopt;
  return finding.entry->outcome == SettlementOutcome::declined ? RepairAs::declined : RepairAs::charged;
}

std::string repair_key(const Finding& finding, RepairAs as) {
  if (repairable_as(finding, Settlement::closed) != as) {
    throw InvalidArgument{"the finding cannot be repaired as " + std::string{to_string(as)}};
  }
  const OurSide& ours = *finding.ours;
  return uuid_v8(Digest{}
                     .part("idem repair v1")
                     .part(ours.key.principal)
                     .part(ours.key.operation)
                     .part(ours.key.value)
                     .part(std::to_string(ours.generation))
                     .part(to_string(as))
                     .part(finding.entry ? std::to_string(finding.entry->amount) : std::string{})
                     .part(finding.entry ? finding.entry->reference : std::string{})
                     .finish())
      .to_string();
}

std::string_view to_string(Repaired repaired) noexcept {
  switch (repaired) {
    case Repaired::applied:
      return "applied";
    case Repaired::done_before:
      return "done_before";
    case Repaired::settled_already:
      return "settled_already";
    case Repaired::passed_over:
      return "passed_over";
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
