// What a Backend was made of, shared by its stores.
#pragma once

#include <cstdint>
#include <utility>

#include "idem/postgres/backend.hpp"
#include "postgres/statements.hpp"
#include "request/key_hash.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {

struct Configuration {
  explicit Configuration(BackendOptions given)
      : options{std::move(given)},
        statements{options.names, options.gate},
        lock_salt{hash_key({"idem gate", options.names.schema, options.names.record}).lock} {
    validate(options.responses);
  }

  BackendOptions options;
  Statements statements;
  // Advisory locks are the whole database's: the same key in two tables must not be one lock.
  std::int64_t lock_salt;
};

}  // namespace postgres
}  // namespace v0
}  // namespace idem
