#include "idem/settlement/reconcile.hpp"

#include "base/text_limits.hpp"
#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace {

bool is_decided(const std::optional<OurSide>& ours) {
  return ours && (ours->state == State::completed || ours->state == State::failed);
}

Differences differences(const SettlementEntry& entry, const OurSide& ours) {
  const bool they_charged = entry.outcome == SettlementOutcome::charged;
  if (they_charged != (ours.state == State::completed)) return {.outcome = true};
  // Of a decline there is nothing that both sides would have to know.
  if (!they_charged) return {};
  return {.amount = ours.effect_is_missing || (ours.amount && *ours.amount != entry.amount),
          .reference = ours.effect_is_missing || (ours.reference && *ours.reference != entry.reference)};
}

Finding compare_entry(const SettlementEntry& entry, const std::optional<OurSide>& ours,
                      const EntryContext& context) {
  Finding finding{.entry = entry, .ours = ours};
  const bool charged = entry.outcome == SettlementOutcome::charged;
  if (is_decided(ours)) finding.differs = differences(entry, *ours);
  if (!is_decided(ours) && !charged && context.charged_at_all) finding.differs.outcome = true;
  finding.differs.charged_twice = charged && context.charged_before;
  if (finding.differs.any()) {
    finding.kind = FindingKind::differing;
  } else {
    finding.kind = is_decided(ours) ? FindingKind::matched : FindingKind::theirs_only;
  }
  return finding;
}

}  // namespace

std::string_view to_string(SettlementOutcome outcome) noexcept {
  switch (outcome) {
    case SettlementOutcome::charged:
      return "charged";
    case SettlementOutcome::declined:
      return "declined";
  }
  return "?";
}

std::string_view to_string(FindingKind kind) noexcept {
  switch (kind) {
    case FindingKind::matched:
      return "matched";
    case FindingKind::ours_only:
      return "ours_only";
    case FindingKind::theirs_only:
      return "theirs_only";
    case FindingKind::differing:
      return "differing";
  }
  return "?";
}

void validate(const SettlementEntry& entry) {
  constexpr std::size_t most_bytes = 255;
  detail::check_text("an entry's downstream_key", entry.downstream_key, most_bytes);
  if (!entry.reference.empty()) detail::check_text("an entry's reference", entry.reference, most_bytes);
  if (entry.outcome != SettlementOutcome::charged && entry.outcome != SettlementOutcome::declined) {
    throw InvalidArgument{"an entry's outcome must be charged or declined"};
  }
  if (entry.amount < 0) throw InvalidArgument{"an entry's amount must not be negative"};
}

std::optional<Finding> compare(const std::optional<SettlementEntry>& entry,
                               const std::optional<OurSide>& ours, const EntryContext& context) {
  if (entry) return compare_entry(*entry, ours, context);
  if (!ours) throw InvalidArgument{"there is neither an entry nor a record to compare"};
  if (ours->state == State::failed || ours->lease_is_live) return std::nullopt;
  return Finding{.kind = FindingKind::ours_only, .ours = ours};
}

void ReconcileSummary::add(const Finding& finding) noexcept {
  if (finding.entry) ++entries;
  if (finding.differs.charged_twice) ++charged_twice;
  switch (finding.kind) {
    case FindingKind::matched:
      ++matched;
      break;
    case FindingKind::ours_only:
      ++ours_only;
      break;
    case FindingKind::theirs_only:
      ++theirs_only;
      break;
    case FindingKind::differing:
      ++differing;
      break;
  }
}

}  // namespace v0
}  // namespace idem
