// How one entry of a settlement and one record are judged.
#include "idem/settlement/reconcile.hpp"

#include <gtest/gtest.h>

#include <string>

#include "idem/base/error.hpp"

namespace idem {
namespace {

constexpr auto charged = SettlementOutcome::charged;
constexpr auto declined = SettlementOutcome::declined;

SettlementEntry entry(SettlementOutcome outcome) {
  return {.downstream_key = "6ac9f0e3-4329-8d17-af8d-ccf22eacdcee",
          .outcome = outcome,
          .amount = 1290,
          .reference = "charge-1"};
}

OurSide ours(State state) {
  return {.key = {"p", "op", "k"}, .state = state, .holder = {7, {}}, .generation = 7};
}

// The finding's kind; the differences are none, and both sides are in it as they were given.
FindingKind kind_of(const std::optional<SettlementEntry>& theirs, const std::optional<OurSide>& own) {
  const Finding finding = compare(theirs, own).value();
  EXPECT_FALSE(finding.differs.any());
  EXPECT_EQ(finding.entry, theirs);
  EXPECT_EQ(finding.ours, own);
  return finding.kind;
}

Differences differences(const SettlementEntry& theirs, const std::optional<OurSide>& own,
                        const EntryContext& context = {}) {
  const Finding finding = compare(theirs, own, context).value();
  EXPECT_EQ(finding.kind, FindingKind::differing);
  return finding.differs;
}

TEST(Reconcile, WhatBothSayIsMatched) {
  EXPECT_EQ(kind_of(entry(charged), ours(State::completed)), FindingKind::matched);
  EXPECT_EQ(kind_of(entry(declined), ours(State::failed)), FindingKind::matched);
  OurSide known = ours(State::completed);
  known.amount = 1290;
  known.reference = "charge-1";
  EXPECT_EQ(kind_of(entry(charged), known), FindingKind::matched);
}

TEST(Reconcile, AnEntryThatNoRecordDecidesIsTheirsOnly) {
  for (const auto outcome : {charged, declined}) {
    EXPECT_EQ(kind_of(entry(outcome), std::nullopt), FindingKind::theirs_only);
    EXPECT_EQ(kind_of(entry(outcome), ours(State::unknown)), FindingKind::theirs_only);
    EXPECT_EQ(kind_of(entry(outcome), ours(State::in_progress)), FindingKind::theirs_only);
    OurSide live = ours(State::in_progress);
    live.lease_is_live = true;
    EXPECT_EQ(kind_of(entry(outcome), live), FindingKind::theirs_only);
  }
}

TEST(Reconcile, ARecordThatMayHaveChargedAndNoEntryIsOursOnly) {
  for (const State state : {State::completed, State::unknown, State::in_progress}) {
    EXPECT_EQ(kind_of(std::nullopt, ours(state)), FindingKind::ours_only);
  }
}

TEST(Reconcile, ADeclineOrALiveLeaseWithoutAnEntryIsNotReported) {
  EXPECT_FALSE(compare(std::nullopt, ours(State::failed)));
  OurSide live = ours(State::in_progress);
  live.lease_is_live = true;
  EXPECT_FALSE(compare(std::nullopt, live));
}

TEST(Reconcile, TwoDecisionsThatContradictEachOtherDiffer) {
  EXPECT_EQ(differences(entry(declined), ours(State::completed)), (Differences{.outcome = true}));
  EXPECT_EQ(differences(entry(charged), ours(State::failed)), (Differences{.outcome = true}));
}

TEST(Reconcile, AmountAndReferenceAreComparedWhereTheyAreKnown) {
  OurSide known = ours(State::completed);
  known.amount = 1291;
  EXPECT_EQ(differences(entry(charged), known), (Differences{.amount = true}));
  known.reference = "charge-2";
  EXPECT_EQ(differences(entry(charged), known), (Differences{.amount = true, .reference = true}));
  known.amount = 1290;
  EXPECT_EQ(differences(entry(charged), known), (Differences{.reference = true}));
  // Nothing is told twice: with another outcome they mean something else.
  EXPECT_EQ(differences(entry(declined), known), (Differences{.outcome = true}));
  OurSide refused = ours(State::failed);
  refused.amount = 1;
  EXPECT_EQ(kind_of(entry(declined), refused), FindingKind::matched);
}

TEST(Reconcile, ACompletedRecordWithoutTheCallersRowDiffers) {
  OurSide without = ours(State::completed);
  without.effect_is_missing = true;
  EXPECT_EQ(differences(entry(charged), without), (Differences{.amount = true, .reference = true}));
  OurSide refused = ours(State::failed);
  refused.effect_is_missing = true;
  EXPECT_EQ(kind_of(entry(declined), refused), FindingKind::matched);
}

TEST(Reconcile, ASecondChargeOfOneKeyIsChargedTwiceWhateverTheRecordSays) {
  const EntryContext second{.charged_before = true, .charged_at_all = true};
  for (const std::optional<OurSide>& own :
       {std::optional<OurSide>{}, std::optional{ours(State::completed)}, std::optional{ours(State::unknown)},
        std::optional{ours(State::in_progress)}}) {
    EXPECT_EQ(differences(entry(charged), own, second), (Differences{.charged_twice = true}));
  }
  EXPECT_EQ(differences(entry(charged), ours(State::failed), second),
            (Differences{.outcome = true, .charged_twice = true}));
  OurSide known = ours(State::completed);
  known.reference = "charge-0";
  EXPECT_EQ(differences(entry(charged), known, second),
            (Differences{.reference = true, .charged_twice = true}));
  // The first of two, and a second decline, are none.
  EXPECT_EQ(compare(entry(charged), ours(State::completed), {.charged_at_all = true})->kind,
            FindingKind::matched);
  EXPECT_EQ(compare(entry(declined), ours(State::failed), second)->kind, FindingKind::matched);
}

TEST(Reconcile, ADeclineBesideAChargeOfTheSameKeyIsNotBelieved) {
  const EntryContext beside{.charged_at_all = true};
  EXPECT_EQ(differences(entry(declined), ours(State::unknown), beside), (Differences{.outcome = true}));
  EXPECT_EQ(differences(entry(declined), ours(State::in_progress), beside), (Differences{.outcome = true}));
  EXPECT_EQ(differences(entry(declined), std::nullopt, beside), (Differences{.outcome = true}));
  EXPECT_EQ(compare(entry(charged), ours(State::unknown), beside)->kind, FindingKind::theirs_only);
}

TEST(Reconcile, NothingCannotBeCompared) {
  EXPECT_THROW(static_cast<void>(compare(std::nullopt, std::nullopt)), InvalidArgument);
}

TEST(Reconcile, TheNamesAreStable) {
  EXPECT_EQ(to_string(FindingKind::matched), "matched");
  EXPECT_EQ(to_string(FindingKind::ours_only), "ours_only");
  EXPECT_EQ(to_string(FindingKind::theirs_only), "theirs_only");
  EXPECT_EQ(to_string(FindingKind::differing), "differing");
  EXPECT_EQ(to_string(charged), "charged");
  EXPECT_EQ(to_string(declined), "declined");
}

TEST(Reconcile, TheSummaryCountsEachFindingOnce) {
  ReconcileSummary summary;
  summary.add({.kind = FindingKind::matched, .entry = entry(charged)});
  summary.add({.kind = FindingKind::ours_only, .ours = ours(State::unknown)});
  summary.add({.kind = FindingKind::theirs_only, .entry = entry(charged)});
  summary.add({.kind = FindingKind::differing, .differs = {.amount = true}, .entry = entry(charged)});
  summary.add({.kind = FindingKind::differing, .differs = {.charged_twice = true}, .entry = entry(charged)});
  EXPECT_EQ(
      summary,
      (ReconcileSummary{
          .entries = 4, .matched = 1, .ours_only = 1, .theirs_only = 1, .differing = 2, .charged_twice = 1}));
}

TEST(Reconcile, AnEntryKeepsItsLimits) {
  const auto refused = [](auto change) {
    SettlementEntry changed = entry(charged);
    change(changed);
    EXPECT_THROW(validate(changed), InvalidArgument);
  };
  validate(entry(charged));
  SettlementEntry longest = entry(declined);
  longest.downstream_key.assign(255, 'x');
  longest.reference.assign(255, 'x');
  longest.amount = 0;
  validate(longest);
  longest.reference.clear();
  validate(longest);
  refused([](SettlementEntry& each) { each.downstream_key.clear(); });
  refused([](SettlementEntry& each) { each.downstream_key.assign(256, 'x'); });
  refused([](SettlementEntry& each) { each.downstream_key = "\xff"; });
  refused([](SettlementEntry& each) { each.reference.assign(256, 'x'); });
  refused([](SettlementEntry& each) { each.reference = std::string("a\0b", 3); });
  refused([](SettlementEntry& each) { each.amount = -1; });
  refused([](SettlementEntry& each) { each.outcome = static_cast<SettlementOutcome>(3); });
}

}  // namespace
}  // namespace idem
