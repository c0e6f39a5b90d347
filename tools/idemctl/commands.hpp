// The commands. Each takes the words after its name and returns what goes to standard output, so that nothing
// is printed where it fails.
#pragma once

#include <span>
#include <string>

namespace idemctl {

using Words = std::span<char* const>;

std::string canonicalize(Words words);
std::string fingerprint(Words words);
std::string schema_print(Words words);
std::string schema_apply(Words words);
std::string show(Words words);

}  // namespace idemctl
