// Helpers for tests of a service that uses idem. The parts stand in the order to read them in.
#pragma once

// FakeClock: time that a test moves.
#include "idem/testing/fake_clock.hpp"
// FakeAcquirer: an outside service that deduplicates, declines, is late or loses its answers, as the test asks.
#include "idem/testing/fake_acquirer.hpp"
// race(): many threads at one starting line.
#include "idem/testing/race.hpp"
// register_store_conformance(): the suite that every store has to pass, for one of your own. Needs the library idem::testing.
#include "idem/testing/store_conformance.hpp"
