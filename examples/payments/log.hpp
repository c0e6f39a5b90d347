// What a server tells its operator.
#pragma once

#include <iostream>
#include <string>
#include <string_view>

namespace payments {

/// One line on stderr. Safe between threads.
inline void log(std::string_view what) {
  // As one piece, so that no other thread's line falls into it.
  std::cerr << "payments: " + std::string{what} + '\n';
}

}  // namespace payments
