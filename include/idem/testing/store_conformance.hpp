// The suite that says whether a store answers as a store must: every row of the state table and every rule.
//
// Both backends of this library run it. To run it on a store of your own, write a fixture and instantiate the
// suite with GoogleTest (link GTest::gtest_main):
//
//     struct MyFixture {
//       MyFixture();                                // an empty store; made anew for each test, on one thread
//       MyUnit begin();                             // a transaction of its own; called from several threads
//       at once void advance(std::chrono::milliseconds);    // moves the store's time forward
//     };
//
//     namespace idem::testing {
//     INSTANTIATE_TYPED_TEST_SUITE_P(MyStore, StoreConformance, MyFixture);
//     }
//
// A unit is movable and owns one transaction, at the isolation level READ COMMITTED or what corresponds to
// it:
//
//     unit.store()     → IdempotencyStore&, the store of this transaction
//     unit.commit()    commits; after LeaseLost it must commit nothing, and may say so by throwing
//     unit.rollback()  rolls back; the destructor does the same where neither was called
//
// At a stricter level the fixture also has `bool keeps_its_snapshot()`, which says true: a call or a commit may then
// throw TransactionConflict where it would have to see what was committed after the unit's beginning, and the suite
// runs the whole transaction again. A unit's commit() says so too where the store's own exception is another one.
//
// Up to 34 units are open at once. The suite calls advance() only while no open unit has written anything, so
// a store on a server may shift its rows' times back instead of moving a clock. Time may also pass by itself:
// no test depends on less than a minute of it. Nothing is written but records, so no table of the suite's own
// is needed.
//
// A test's name begins with what it is about: a row of the state table (Row…), a rule (Rule1… to Rule13…, as
// docs/guarantees.md counts them), an identity, the stored content, a duplicate that waits (InFlight…), or a race. Rule
// 13, the recovery of records that nobody retries, is not a store's.
#pragma once

#include "idem/testing/store_conformance/content.hpp"
#include "idem/testing/store_conformance/identity.hpp"
#include "idem/testing/store_conformance/in_flight.hpp"
#include "idem/testing/store_conformance/races.hpp"
#include "idem/testing/store_conformance/rules.hpp"
#include "idem/testing/store_conformance/state_table.hpp"
#include "idem/testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

REGISTER_TYPED_TEST_SUITE_P(
    StoreConformance, RowAbsentIsAcquiredFresh, RowAbsentRecordsWhatWasAskedFor,
    RowExpiredCompletedIsAcquiredFreshWithEveryColumnNew, RowExpiredFailedIsAcquiredFresh,
    RowExpiredResolvedIsAcquiredFreshWithoutTheResolution, RowExpiredWithOtherFingerprintIsAcquiredFresh,
    RowInProgressLiveIsInProgress, RowInProgressLiveResumableIsInProgress,
    RowInProgressLiveLeavesTheRecordAsItIs, RowInProgressLiveWithOtherFingerprintIsMismatch,
    RowInProgressLapsedResumableIsTakenOver, RowInProgressLapsedResumableWithOtherFingerprintIsMismatch,
    RowInProgressLapsedAskerDoesNotResumeIsUnknownAndLeftAsItIs,
    RowInProgressLapsedAskerDoesNotResumeWithOtherFingerprintIsMismatch,
    RowInProgressLapsedNotResumableTurnsUnknown, RowInProgressLapsedTurnedUnknownIsGivenItsResponseOnce,
    RowInProgressLapsedNotResumableWithOtherFingerprintIsMismatch, RowCompletedIsReplay,
    RowCompletedWithOtherFingerprintIsMismatch, RowFailedIsReplay, RowFailedWithOtherFingerprintIsMismatch,
    RowUnknownIsUnknownWithItsResponse, RowUnknownWithOtherFingerprintIsMismatch,
    RowUnknownIsUnknownForItsOwnAttemptToo, RowOwnAttemptLiveIsAcquiredAgainAndItsLeaseRenewed,
    RowOwnAttemptLapsedIsAcquiredAgain, RowOwnAttemptWithOtherFingerprintIsMismatch,
    RowOwnAttemptThatWasTakenOverIsInProgress, RowOwnTransactionIsAlreadyReservedAndTheTransactionUsable,
    RowOwnTransactionWithOtherFingerprintIsAlreadyReserved, RowOwnTransactionThatTookOverIsAlreadyReserved,
    RowOwnTransactionUnderTheSameAttemptIsAcquiredAgain, RowOwnTransactionThatSettledIsReplay,
    RowInProgressOfAnEarlierTransactionIsNotAlreadyReserved,
    Rule1EachWriteUnderAnotherFenceIsLeaseLostAndCommitsNothing,
    Rule1EachWriteUnderAnotherAttemptIsLeaseLostAndCommitsNothing,
    Rule1EachWriteAfterATakeoverIsLeaseLostAndCommitsNothing,
    Rule1CompleteAfterTheNewHolderSettledIsLeaseLostAndCommitsNothing,
    Rule1EachWriteOnAnAbsentRecordIsLeaseLostAndCommitsNothing,
    Rule1EachWriteOnAnotherTransactionsUncommittedRecordIsLeaseLost,
    Rule1ALeaseOfAReleasedRecordNeverSettlesTheNextOne, Rule1ALeaseOfAnExpiredRecordNeverSettlesTheNextOne,
    Rule1ASecondSettlingIsAlreadySettledAndCommitsNothing,
    Rule1ASecondSettlingInTheSameTransactionIsAlreadySettledAndCommitsNothing,
    Rule1EachOtherWriteOnASettledRecordIsLeaseLostAndCommitsNothing, Rule1OnlySettlingActsOnAnUnknownRecord,
    Rule1NothingOfALostTransactionIsCommittedNotEvenWhatFollows,
    Rule1AfterLeaseLostFindInANewTransactionShowsTheAnswer, Rule1ALapsedLeaseThatNobodyTookOverStillHolds,
    Rule1TheFenceGrowsWithEachTakeoverReplacementAndRelease,
    Rule1RenewSetsTheLeaseFromNowAndTheLeaseStaysTheHolders, Rule1RenewCanShortenTheLease,
    Rule1RenewRefusesATimeThatIsNone, Rule1LapseEndsTheLeaseAndLeavesTheRecordForTheNext,
    Rule1WritesWaitForTheTransactionThatHoldsTheRecordAndThenLookAgain,
    Rule1ASettlingThatWaitedForASettlingIsAlreadySettled, Rule1ASettlingThatWaitedForARollbackSettles,
    Rule1HoldChangesNothingAndKeepsOthersFromTheRecord,
    Rule1HoldOfASettledRecordIsAlreadySettledAndCommitsNothing,
    Rule1HoldOfAnUnknownRecordOfItsOwnLeavesItUnknown, Rule2CompleteSettlesAnUnknownRecordOfItsOwn,
    Rule2FailSettlesARecordThatALapseMadeUnknown,
    Rule2SettlingAnUnknownRecordOfAnotherIsLeaseLostAndCommitsNothing, Rule3IsNotResumedForAnotherDownstream,
    Rule3IsNotResumedUnderAnotherPromiseOfItsDownstream, Rule3IsNotResumedWhereTheRecordDoesNotSaySo,
    Rule3IsNotResumedWhereTheAskerNamesTheDownstreamButDoesNotResume,
    Rule3IsResumedBeforeTheWindowLessTheMargin, Rule3TurnsUnknownAfterTheWindowLessTheMargin,
    Rule3NeitherATakeoverNorARenewalExtendsTheWindow,
    Rule3IsResumedWithoutTheMarkWhereTheDownstreamCannotDeduplicate,
    Rule3TurnsUnknownWithTheMarkWhereTheDownstreamCannotDeduplicate,
    Rule3AMarkOfAnEarlierAttemptCountsForTheNext, Rule3AMarkIsKeptOverATakeoverWhereTheDownstreamDeduplicates,
    Rule3ResumableWithoutADownstreamIsRefused, Rule3TheRecordedRetentionHoldsOverATakeover,
    Rule4TheRetentionCountsFromSettling, Rule4TheTimeOfExpiryIsToldWithTheAnswer, Rule4InProgressNeverExpires,
    Rule4UnknownNeverExpires, Rule5ResolveToCompletedWithTheGeneration,
    Rule5ResolveToCompletedWithTheTimeOfTheCharge,
    Rule5ResolveToCompletedForAnotherGenerationsChargeIsRefusedAndTheTransactionUsable,
    Rule5ResolveToFailedIsTooEarlyUntilTheLeaseAndTheCallsDeadlineAreOver,
    Rule5ResolveToFailedNeedsADefinitiveAnswer, Rule5ResolveActsOnUnknownOnly,
    Rule5ResolveMatchesFenceAndAttempt, Rule5ASecondResolveIsAlreadySettledAndCommitsNothing,
    Rule5ResolveAfterTheSlowWorkerSettledIsAlreadySettled, Rule5ResolveIsRolledBackWithItsTransaction,
    Rule5ResolveRefusesAnythingButASettledStateAndItsNames, Rule6ReleaseMakesTheKeyANewRequest,
    Rule6ReleaseIsRolledBackWithItsTransaction, Rule6ReleaseInTheReservingTransactionLeavesNothing,
    Rule6ReleaseOfARecordThatWasTakenOverIsRefusedAndTheTransactionUsable,
    Rule6ReleaseOfARecordThatWasMarkedSentIsRefusedAndTheTransactionUsable, Rule7WhatIsRolledBackIsNotStored,
    Rule7ATransactionThatIsDroppedStoresNothing, Rule7EachWriteIsRolledBackWithItsTransaction,
    Rule7ATakeoverAndATurnToUnknownAreRolledBackWithTheirTransaction,
    Rule8ReserveUnderTheSameAttemptWaitsForTheOldTransactionAndReplays,
    Rule8ReserveUnderTheSameAttemptWaitsForTheOldTransactionAndRunsAgain,
    Rule8ReserveUnderTheSameAttemptFindsItsOwnReservationAgain, Rule8AfterTheWaitAnotherFingerprintIsMismatch,
    Rule8ReserveWaitsForALostTakeover, Rule8ReserveWaitsForALostReplacement,
    Rule8AReservationUnderAGivenAttemptKeepsIt, Rule8EachReservationHasAnAttemptOfItsOwn,
    Rule8RunningTheFinalTransactionAgainIsAlreadySettledWhereItWasCommitted,
    Rule9AReservationCommittedUnsettledLapsesIntoUnknownNotIntoASecondRun,
    Rule9ReserveBusinessWritesAndCompleteAreOneCommit, Rule10OptionsBeyondALimitAreRefusedWithNothingChanged,
    Rule10OptionsAtTheirLimitsAreAccepted, Rule11ATransactionsOwnBeginningIsNotItsTime,
    Rule11ALeaseThatEndedAfterTheTransactionBeganHasEnded, Rule12AfterEveryAnswerTheTransactionIsUsable,
    ContentIsReplayedByteForByte, ContentOfAnUnknownRecordAndOfItsResolutionIsReplayedByteForByte,
    ContentOfAnEmptyUnknownResponseIsAResponse, ContentThatNoHeaderCanHoldIsRefusedAndTheLeaseStillHolds,
    ContentOfADownstreamsNameIsKept, IdentityOfPrincipalsAndOperationsThatShareAKeyIsTheirOwn,
    IdentityOfAKeyIsItsBytes, IdentityOfTheLongestKeyIsAccepted,
    IdentityThatCannotBeStoredIsInvalidKeyAndTheTransactionUsable,
    IdentityOfARequestIsEveryByteOfItsFingerprint,
    IdentityUnderAnUnknownSchemeIsFingerprintUnavailableNeverMismatch,
    IdentityIsComparedUnderTheRecordsOwnScheme, IdentityInALeaseIsTheStoredFingerprint,
    InFlightWaitEndsWithTheAnswerOfTheOneThatCommits, InFlightWaitAcquiresWhatIsRolledBack,
    InFlightWaitThatIsOverIsInProgressAndTheTransactionUsable,
    InFlightWaitForACommittedReservationEndsWhenItIsSettled, InFlightWaitOfLessThanNoTimeOrTooLongIsRefused,
    RaceLoserIsAnsweredWhileTheWinnerIsOpenAndItsTransactionIsUsable,
    RaceLoserWithAnotherFingerprintIsInProgressThenMismatch, RaceLoserAcquiresAfterTheWinnerRolledBack,
    RaceRetryAfterIsNotLongerThanTheLeaseAskedFor, RaceForALapsedRecordIsAnsweredWhileTheOtherIsOpen,
    RaceWithAnOpenSettlingIsInProgress, RaceWithAnOpenReleaseIsInProgressUntilItIsCommitted,
    RaceFindNeitherSeesNorWaitsForAnUncommittedRecord, RaceOf32ThreadsForOneKeyHasOneWinnerAndNoException,
    RaceOf32ThreadsForALapsedRecordHasOneTakeover,
    RaceOf32ThreadsForALapsedRecordThatMustNotBeResumedHasNoWinner,
    RaceOf32ThreadsForAnExpiredRecordHasOneWinner, RaceOfASettlingWithATakeoverHasOneWinner,
    RaceOf16ThreadsOver10KeysHasOneWinnerEach);

}  // namespace testing
}  // namespace v0
}  // namespace idem
