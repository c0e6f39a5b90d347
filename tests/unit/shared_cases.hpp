// Where the test vectors are that others wrote and that are not part of this repository.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace idem::test {

/// The folder in IDEM_SHARED_CASES, or `shared/cases` beside the checkout. It may be missing.
inline std::filesystem::path shared_cases() {
  if (const char* const named = std::getenv("IDEM_SHARED_CASES")) return named;
  return std::filesystem::absolute(__FILE__).parent_path() / "../../../shared/cases";
}

}  // namespace idem::test
