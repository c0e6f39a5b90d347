// What tells one company from another.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "entry.hpp"

namespace company {

/// Reads the body of a request. Throws BadRequest.
using ReadCommand = std::function<Command(std::string_view body)>;

struct Company {
  Words words;
  /// Those that behave each in its own way. A company that is one service has one without a name.
  std::vector<std::string> services{""};
  std::map<std::string, ReadCommand> commands;  ///< By path.
};

}  // namespace company
