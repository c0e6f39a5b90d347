#include "postgres/transaction_kind.hpp"

#include <cstdlib>

namespace idem::postgres_test {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value == nullptr ? std::string{} : value;
}

}  // namespace

const TransactionKind& transaction_kind() {
  static const TransactionKind kind{environment("IDEM_TEST_ISOLATION"),
                                    !environment("IDEM_TEST_SUBTRANSACTION").empty(),
                                    !environment("IDEM_TEST_THROUGH_POOLER").empty()};
  return kind;
}

}  // namespace idem::postgres_test
