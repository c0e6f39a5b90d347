// A COMMIT whose answer never arrives, for tests of what a service does then.
#pragma once

#include <stdexcept>
#include <string>

namespace idem {
inline namespace v0 {
namespace memory {

/// What truly became of the transaction whose COMMIT's answer is lost.
enum class LostCommit {
  after_applying,   ///< It is committed.
  before_applying,  ///< It is rolled back.
};

/// The answer to a COMMIT was lost: the transaction is committed or not, and the one who asked is not told.
/// What `pqxx::in_doubt_error` is on PostgreSQL; like it, no idem::Error. transact() settles it by itself.
class CommitLost : public std::runtime_error {
 public:
  explicit CommitLost(const std::string& message) : std::runtime_error{message} {}
};

}  // namespace memory
}  // namespace v0
}  // namespace idem
