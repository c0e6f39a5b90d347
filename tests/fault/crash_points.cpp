#include "fault/crash_points.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

// libpq's own names for them, so that its header is not needed.
struct pg_conn;
struct pg_result;

namespace idem::crash_points {
namespace {

std::atomic<int> fatal = 0;
std::atomic<int> count = 0;

// The function of that name in the libraries behind this program.
template <class Function>
Function* next(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

}  // namespace

void die_at(int point) {
  fatal = point;
}

void reach() {
  if (++count == fatal) ::kill(::getpid(), SIGKILL);
}

int reached() {
  return count;
}

}  // namespace idem::crash_points

// These come before libpq's: the program's own symbols are found first, by libpqxx too. What libpqxx sends in
// other ways (pipelines, COPY) has no points.

// NOLINTBEGIN(readability-identifier-naming): libpq's names
extern "C" pg_result* PQexec(pg_conn* connection, const char* statement) {
  static const auto real = idem::crash_points::next<decltype(PQexec)>("PQexec");
  idem::crash_points::reach();
  pg_result* const result = real(connection, statement);
  idem::crash_points::reach();
  return result;
}

extern "C" pg_result* PQexecParams(pg_conn* connection, const char* statement, int count,
                                   const unsigned* types, const char* const* values, const int* lengths,
                                   const int* formats, int result_format) {
  static const auto real = idem::crash_points::next<decltype(PQexecParams)>("PQexecParams");
  idem::crash_points::reach();
  pg_result* const result =
      real(connection, statement, count, types, values, lengths, formats, result_format);
  idem::crash_points::reach();
  return result;
}

extern "C" pg_result* PQexecPrepared(pg_conn* connection, const char* name, int count,
                                     const char* const* values, const int* lengths, const int* formats,
                                     int result_format) {
  static const auto real = idem::crash_points::next<decltype(PQexecPrepared)>("PQexecPrepared");
  idem::crash_points::reach();
  pg_result* const result = real(connection, name, count, values, lengths, formats, result_format);
  idem::crash_points::reach();
  return result;
}
// NOLINTEND(readability-identifier-naming)
