// The suites that run on each backend, in each kind of transaction that a caller may have.
#pragma once

#include <string>

#include "conformance/fixture.hpp"

namespace idem::conformance {

/// Adds all of them to GoogleTest's tests, as `<prefix>/ExecuteConformance.<Test>` and so on, and the one of
/// idem/testing/store_conformance.hpp, which says when to call this.
void register_conformance(const std::string& prefix, const Conformance::MakeFixture& make);

// Those of one source each.
void register_execute(const std::string& prefix, const Conformance::MakeFixture& make);
void register_external_call(const std::string& prefix, const Conformance::MakeFixture& make);
void register_sweep(const std::string& prefix, const Conformance::MakeFixture& make);
void register_repairs(const std::string& prefix, const Conformance::MakeFixture& make);
void register_inbox(const std::string& prefix, const Conformance::MakeFixture& make);
void register_outbox(const std::string& prefix, const Conformance::MakeFixture& make);
void register_response_rules(const std::string& prefix, const Conformance::MakeFixture& make);

}  // namespace idem::conformance
