// What an OpenAPI document says of answers, so that they can be compared with it.
#pragma once

#include <map>
#include <set>
#include <string>

namespace idem::docs_test {

struct DocumentedAnswer {
  std::string content_type;
  std::set<std::string> problems;  ///< The `type`s that a problem may have; empty where it is none.
  std::set<std::string> headers;   ///< Those that are always there.
  std::set<std::string> optional_headers;
};

/// `POST /payments` and the like, and each of its statuses.
using DocumentedAnswers = std::map<std::string, std::map<int, DocumentedAnswer>>;

/// Throws std::runtime_error for what is no YAML, a `$ref` to what is not there, and an answer with other than one content type.
[[nodiscard]] DocumentedAnswers documented_answers(const std::string& yaml);

}  // namespace idem::docs_test
