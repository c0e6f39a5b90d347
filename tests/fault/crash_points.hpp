// Points at which a process can be told to die. Linking this in makes two of each statement that it sends by
// libpq.
#pragma once

namespace idem::crash_points {

/// From now on the process dies by SIGKILL at its n-th point: no destructor, no rollback, no goodbye to the
/// server. 0: at none.
void die_at(int point);

/// A point of the program's own. Each statement has one before it is sent and one after its answer has come;
/// BEGIN and COMMIT are statements too. Safe between threads.
void reach();

/// How many there were so far.
[[nodiscard]] int reached();

}  // namespace idem::crash_points
