// Runs idemctl as a process, without a shell.
#pragma once

#include <string>
#include <vector>

namespace idem::test {

/// What a run of idemctl came to.
struct Ended {
  int exit_code = -1;  ///< -1 where a signal ended it.
  std::string out{};
  std::string error{};
  long peak_kib = 0;  ///< The most memory that it had, in KiB.
};

/// The most memory that a run may have, whatever it is fed. ThreadSanitizer has a shadow of its own for every byte.
#if defined(__SANITIZE_THREAD__)
inline constexpr long most_kib = 512L * 1024;
#else
inline constexpr long most_kib = 128L * 1024;
#endif

/// How much more memory a run may have for whatever is more of the same. The sanitizers keep what was freed.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr long most_growth_kib = 512L * 1024;
#else
inline constexpr long most_growth_kib = 4L * 1024;
#endif

/// Where a run's standard input comes from, and where its standard output goes to.
struct Streams {
  std::string in{};
  std::string in_file{};   ///< Read instead of `in` where it is set.
  std::string out_file{};  ///< Written instead of Ended::out where it is set.
};

/// Runs idemctl with `arguments` to its end.
Ended run_idemctl(std::vector<std::string> arguments, const Streams& streams = {});

/// The run failed as documented: exit code 2, nothing on standard output, one line on standard error, which
/// is "idemctl: " and `message`.
void expect_refused(const Ended& run, const std::string& message);

}  // namespace idem::test
