// A visitor that forgets an outcome.
// expect: (invoke|visit|no type)
#include <idem/command/outcome.hpp>

struct Status {
  int operator()(const idem::Executed& done) const { return done.response.status; }
  int operator()(const idem::Replay& replay) const { return replay.response.status; }
  int operator()(const idem::InProgress&) const { return 409; }
  int operator()(const idem::Mismatch&) const { return 422; }
#ifndef MUST_NOT_COMPILE
  int operator()(const idem::Unknown&) const {
    return 202;
  }
#endif
};

int status_of(const idem::Outcome& outcome) {
  return std::visit(Status{}, outcome);
}
