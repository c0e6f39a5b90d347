// What of an exception may be shown.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace payments {

/// The message's first line: further ones may repeat a statement, or a row. Valid as long as the exception.
[[nodiscard]] inline std::string_view first_line(const std::exception& failure) {
  const std::string_view message = failure.what();
  return message.substr(0, message.find('\n'));
}

/// Of one that is kept for later; never null.
[[nodiscard]] inline std::string first_line(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& told) {
    return std::string{first_line(told)};
  } catch (...) {
    return "unknown failure";
  }
}

}  // namespace payments
