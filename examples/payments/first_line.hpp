// What of an exception may be shown.
#pragma once

#include <exception>
#include <string_view>

namespace payments {

/// The message's first line: further ones may repeat a statement, or a row. Valid as long as the exception.
[[nodiscard]] inline std::string_view first_line(const std::exception& failure) {
  const std::string_view message = failure.what();
  return message.substr(0, message.find('\n'));
}

}  // namespace payments
