// The services over HTTP.
#pragma once

#include <string_view>

#include "keyed_post.hpp"
#include "services.hpp"

namespace refund_saga {

class HttpServices : public Services {
 public:
  /// Throws as examples::KeyedPost does.
  explicit HttpServices(std::string_view url) : post_{"the service", url} {}

  [[nodiscard]] idem::CallResult<Answer> command(std::string_view path, const Refund& refund,
                                                 const std::string& idempotency_key,
                                                 std::chrono::milliseconds deadline) const override;

 private:
  examples::KeyedPost post_;
};

}  // namespace refund_saga
