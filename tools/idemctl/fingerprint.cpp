#include "idem/request/fingerprint.hpp"

#include "arguments.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "input.hpp"

namespace idemctl {

std::string fingerprint(Words words) {
  const Arguments arguments{words,
                            {{"operation"},
                             {"method"},
                             {"query"},
                             {"include", Option::Takes::many_values},
                             {"exclude", Option::Takes::many_values},
                             {"content-type"}}};
  const std::string operation = arguments.required("operation");
  const std::string method = arguments.one("method").value_or("");
  const std::string query = arguments.one("query").value_or("");
  const std::string content_type = arguments.one("content-type").value_or("application/json");
  // Before anything is read: a wrong pointer is told also where nobody ends the input.
  const idem::Fingerprinter fingerprinter{
      {.include = arguments.all("include"), .exclude = arguments.all("exclude")}};
  const std::size_t limit = fingerprinter.json_options().max_bytes;
  const std::string body = read_input(limit);
  if (body.size() > limit) {
    throw Failure{"standard input is longer than the limit of " + std::to_string(limit) + " bytes"};
  }
  return fingerprinter({.method = method,
                        .operation = operation,
                        .query = query,
                        .content_type = content_type,
                        .body = body})
             .hex() +
         '\n';
}

}  // namespace idemctl
