// What a Backend was made of, shared by its stores.
#pragma once

#include "idem/postgres/backend.hpp"
#include "statements.hpp"

namespace idem::inline v0::postgres {

struct Configuration {
  explicit Configuration(BackendOptions given)
      : options{std::move(given)}, statements{options.names, options.gate} {}

  BackendOptions options;
  Statements statements;
};

}  // namespace idem::inline v0::postgres
