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

}  // namespace v0
}  // namespace idem
