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

/// Which sanitizer this is built with. g++ defines a macro for each; clang 14 tells of a feature.
#if defined(__has_feature)
#define IDEM_TEST_FEATURE(name) __has_feature(name)
#else
#define IDEM_TEST_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || IDEM_TEST_FEATURE(thread_sanitizer)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || IDEM_TEST_FEATURE(address_sanitizer)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif
#undef IDEM_TEST_FEATURE

/// The most memory that a run may have, whatever it is fed. ThreadSanitizer has a shadow of its own for every byte.
inline constexpr long most_kib = (thread_sanitizer ? 512L : 128L) * 1024;

/// How much more memory a run may have for whatever is more of the same. The sanitizers keep what was freed.
inline constexpr long most_growth_kib = (thread_sanitizer || address_sanitizer ? 512L : 4L) * 1024;

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
