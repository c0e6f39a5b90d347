// The commands. Each takes the words after its name and returns what is to be printed, so that nothing is printed where
// it fails.
#pragma once

#include <span>
#include <string>

#include "spool.hpp"

namespace idemctl {

using Words = std::span<char* const>;

/// What a command came to. A text alone is standard output's, with exit code 0.
struct Answer {
  std::string out;  ///< Goes to standard output.
  int exit_code = 0;
  std::string note{};  ///< A line for standard error, after that; empty for none.
  Spool first{};       ///< Goes to standard output before `out`.
};

std::string canonicalize(Words words);
std::string fingerprint(Words words);
std::string schema_print(Words words);
std::string schema_apply(Words words);
std::string show(Words words);
Answer list(Words words);
Answer resolve(Words words);
Answer purge(Words words);
Answer reconcile(Words words);
Answer repairs(Words words);
Answer repairs_cancel(Words words);
std::string inbox_show(Words words);

}  // namespace idemctl
