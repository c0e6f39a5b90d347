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
//     unit.store()     → IdempotencyStore&, the store of this transaction, the same object each time
//     unit.commit()    commits; throws where nothing can be committed, as after LeaseLost
//     unit.rollback()  rolls back; the destructor does the same where neither was called
//
// Up to 34 units are open at once. The suite calls advance() only while no unit is open, so a store on a
// server may shift its rows' times back instead of moving a clock. Time may also pass by itself: no test
// depends on less than a minute of it. Nothing is written but records, so no table of the suite's own is
// needed.
#pragma once
