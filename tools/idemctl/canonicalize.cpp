#include "arguments.hpp"
#include "commands.hpp"
#include "idem/json/canonical_json.hpp"
#include "input.hpp"

namespace idemctl {

std::string canonicalize(Words words) {
  const Arguments arguments{words, {{"rfc8785", Option::Takes::nothing}}};
  idem::CanonicalJsonOptions options;
  if (arguments.has("rfc8785")) options.numbers = idem::JsonNumbers::rfc8785;
  return idem::canonical_json(read_input(options.max_bytes), options);
}

}  // namespace idemctl
