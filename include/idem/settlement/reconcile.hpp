// What an outside system says that it did, compared with the records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "idem/base/clock.hpp"
#include "idem/record/record.hpp"
#include "idem/request/key.hpp"

namespace idem {
inline namespace v0 {

/// What the downstream did with a call, as its settlement says. The numbers are stored and never change their meaning.
enum class SettlementOutcome : std::int16_t {
  charged = 1,
  declined = 2,
};

/// Its stable name: `charged`, `declined`.
[[nodiscard]] std::string_view to_string(SettlementOutcome outcome) noexcept;

/// One line of a settlement: what the downstream did under one downstream key.
struct SettlementEntry {
  /// The key that it was called with (see downstream_key). 1 to 255 bytes of UTF-8 without NUL. A UUID may be spelled
  /// with or without hyphens, in braces or as a URN, in letters of either case; in a finding it has 36 characters and small
  /// letters. One that is no UUID is none of ours.
  std::string downstream_key{};
  SettlementOutcome outcome = SettlementOutcome::charged;
  /// In minor units, such as cents. Not negative: a refund is no charge and is no line of its own here.
  std::int64_t amount = 0;
  /// The downstream's own name of the charge. Empty where it has none; at most 255 bytes of UTF-8 without NUL.
  std::string reference{};
  /// When the downstream did it.
  std::optional<TimePoint> at{};

  friend bool operator==(const SettlementEntry&, const SettlementEntry&) = default;
};

/// Throws InvalidArgument, naming the member and its limit and never the content, where `entry` breaks one.
void validate(const SettlementEntry& entry);

/// What the records, and the caller's own rows, say about one downstream key.
struct OurSide {
  Key key;
  State state = State::in_progress;
  Holder holder{};
  std::int64_t generation = 0;
  TimePoint created_at{};
  /// IN_PROGRESS, and its holder's lease still runs by the store's clock.
  bool lease_is_live = false;
  std::string downstream_key{};
  /// What the caller thinks that it charged, where that is known. What is not known is not compared.
  std::optional<std::int64_t> amount{};
  std::optional<std::string> reference{};
  /// The caller's rows were looked at, and there is none for this record.
  bool effect_is_missing = false;

  friend bool operator==(const OurSide&, const OurSide&) = default;
};

enum class FindingKind {
  matched,      ///< Both sides say the same.
  ours_only,    ///< A record that may have charged, and no entry.
  theirs_only,  ///< An entry, and no record that is decided. What can be repaired is among these.
  differing,    ///< Both sides are decided and say different things, or the downstream charged one key twice.
};

/// Its stable name: `matched`, `ours_only`, `theirs_only`, `differing`.
[[nodiscard]] std::string_view to_string(FindingKind kind) noexcept;

/// In what two sides differ. More than one may be set.
struct Differences {
  bool outcome = false;
  bool amount = false;
  bool reference = false;
  /// The entry is the second or a later charge under one downstream key.
  bool charged_twice = false;

  [[nodiscard]] bool any() const noexcept { return outcome || amount || reference || charged_twice; }
  friend bool operator==(const Differences&, const Differences&) = default;
};

/// What the comparison says of one entry, or of one record without an entry.
struct Finding {
  FindingKind kind = FindingKind::matched;
  /// Set in `differing` only.
  Differences differs{};
  std::optional<SettlementEntry> entry{};
  std::optional<OurSide> ours{};

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// What the settlement holds under the downstream key of one entry besides that entry.
struct EntryContext {
  /// An earlier entry is a charge too.
  bool charged_before = false;
  /// Any entry, this one or another, is a charge.
  bool charged_at_all = false;
};

/// Compares one entry with the record of its downstream key; either may be missing, not both. Empty where there is nothing
/// to report. Pure.
///
/// - A second or later charge of one key: differing, charged twice, whatever the record says.
/// - COMPLETED and a charge: matched, or differing in amount or reference where ours are known. FAILED and a decline:
///   matched. COMPLETED and a decline, FAILED and a charge: differing in the outcome.
/// - No record, UNKNOWN or IN_PROGRESS, and an entry: theirs_only. But a decline beside a charge of the same key is
///   differing in the outcome: the charge is what stands.
/// - COMPLETED, UNKNOWN or a lapsed IN_PROGRESS, and no entry: ours_only.
/// - FAILED, or IN_PROGRESS under a live lease, and no entry: nothing to report.
[[nodiscard]] std::optional<Finding> compare(const std::optional<SettlementEntry>& entry,
                                             const std::optional<OurSide>& ours,
                                             const EntryContext& context = {});

/// How many findings there were of each kind.
struct ReconcileSummary {
  /// Lines of the settlement. Each is in exactly one finding.
  std::uint64_t entries = 0;
  std::uint64_t matched = 0;
  std::uint64_t ours_only = 0;
  std::uint64_t theirs_only = 0;
  std::uint64_t differing = 0;
  /// Of the differing ones: second and later charges under one downstream key.
  std::uint64_t charged_twice = 0;

  void add(const Finding& finding) noexcept;
  friend bool operator==(const ReconcileSummary&, const ReconcileSummary&) = default;
};

}  // namespace v0
}  // namespace idem
