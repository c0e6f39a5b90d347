// What of an exception may be shown.
#pragma once

#include <exception>
#include <pqxx/pqxx>
#include <string>

namespace payments {

/// The message's first line: further ones may repeat a statement, or a row. Of what the database says only the SQLSTATE: even
/// its first line may quote a value.
[[nodiscard]] inline std::string first_line(const std::exception& failure) {
  if (const auto* refused = dynamic_cast<const pqxx::sql_error*>(&failure)) {
    return "the database refused a statement (SQLSTATE " + refused->sqlstate() + ')';
  }
  const std::string message = failure.what();
  return message.substr(0, message.find('\n'));
}

/// Of one that is kept for later; never null.
[[nodiscard]] inline std::string first_line(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& told) {
    return first_line(told);
  } catch (...) {
    return "unknown failure";
  }
}

}  // namespace payments
